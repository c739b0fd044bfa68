def function():
    return undefined_variable


function()
