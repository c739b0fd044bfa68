a, b, c = "xy"
