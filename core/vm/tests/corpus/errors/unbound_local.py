def function():
    print(value)
    value = 1


function()
