error = ValueError("with notes")
error.add_note("the note is the last line")
raise error
