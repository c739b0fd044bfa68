def advance(bodies, steps, dt):
    for _ in range(steps):
        for i in range(len(bodies)):
            a = bodies[i]
            for j in range(i + 1, len(bodies)):
                b = bodies[j]
                dx = a[0] - b[0]
                dy = a[1] - b[1]
                dz = a[2] - b[2]
                squared = dx * dx + dy * dy + dz * dz
                mag = dt / (squared * squared ** 0.5 + 0.01) if False else dt / (squared * squared + 0.01)
                a[3] -= dx * b[6] * mag
                a[4] -= dy * b[6] * mag
                a[5] -= dz * b[6] * mag
                b[3] += dx * a[6] * mag
                b[4] += dy * a[6] * mag
                b[5] += dz * a[6] * mag
        for body in bodies:
            body[0] += dt * body[3]
            body[1] += dt * body[4]
            body[2] += dt * body[5]


bodies = [[float(i), i * 0.5, i * 0.25, 0.1 * i, 0.2, 0.3, 1.0 + i] for i in range(5)]
advance(bodies, 4000, 0.001)
print(bodies[0][0], bodies[4][5])
