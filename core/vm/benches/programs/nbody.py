"""Floats: planets under gravity."""

SOLAR_MASS = 39.47841760435743
BODIES = [
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, SOLAR_MASS],
    [4.84143144246472090, -1.16032004402742839, -0.103622044471123109, 0.606326392995832, 2.81198684491626, -0.0252183616598876, 0.000954791938424326609 * SOLAR_MASS],
    [8.34336671824457987, 4.12479856412430479, -0.403523417114321381, -1.01077434617879, 1.82566237123041, 0.00841576137658415, 0.000285885980666130812 * SOLAR_MASS],
    [12.8943695621391310, -15.1111514016986312, -0.223307578892655734, 1.08279100644154, 0.868713018169608, -0.0108326374013636, 0.0000436624404335156298 * SOLAR_MASS],
    [15.3796971148509165, -25.9193146099879641, 0.179258772950371181, 0.979090732243898, 0.594698998647676, -0.0347559555045161, 0.0000515138902046611451 * SOLAR_MASS],
]


def advance(bodies, step, count):
    for _ in range(count):
        for index, one in enumerate(bodies):
            x, y, z, vx, vy, vz, mass = one
            for two in bodies[index + 1:]:
                dx, dy, dz = x - two[0], y - two[1], z - two[2]
                squared = dx * dx + dy * dy + dz * dz
                pull = step / (squared * squared**0.5)
                weight, other = two[6] * pull, mass * pull
                vx -= dx * weight
                vy -= dy * weight
                vz -= dz * weight
                two[3] += dx * other
                two[4] += dy * other
                two[5] += dz * other
            one[3], one[4], one[5] = vx, vy, vz
        for body in bodies:
            body[0] += step * body[3]
            body[1] += step * body[4]
            body[2] += step * body[5]


def energy(bodies):
    total = 0.0
    for index, one in enumerate(bodies):
        total += 0.5 * one[6] * (one[3] * one[3] + one[4] * one[4] + one[5] * one[5])
        for two in bodies[index + 1:]:
            dx, dy, dz = one[0] - two[0], one[1] - two[1], one[2] - two[2]
            total -= one[6] * two[6] / (dx * dx + dy * dy + dz * dz) ** 0.5
    return total


before = energy(BODIES)
advance(BODIES, 0.01, 27000)
print(f"{before:.9f} {energy(BODIES):.9f}")
