"""Float loops: the Mandelbrot set, rows packed into a number."""


def row(y, width, height, limit):
    bits, ci = 0, 2.0 * y / height - 1.0
    for x in range(width):
        cr, zr, zi, step = 2.0 * x / width - 1.5, 0.0, 0.0, 0
        while step < limit:
            squared_r, squared_i = zr * zr, zi * zi
            if squared_r + squared_i > 4.0:
                break
            zi = 2.0 * zr * zi + ci
            zr = squared_r - squared_i + cr
            step += 1
        bits = bits << 1 | (step == limit)
    return bits


checksum = 0
for y in range(170):
    checksum = (checksum * 31 + row(y, 170, 170, 50)) % (2**61 - 1)
print(checksum)
