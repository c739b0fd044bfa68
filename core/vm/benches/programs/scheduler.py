"""Objects talking to objects: a small operating system with tasks, queues and devices."""


class Packet:
    def __init__(self, link, ident, kind):
        self.link, self.ident, self.kind = link, ident, kind
        self.datum, self.data = 0, [0] * 4

    def append_to(self, queue):
        queue.append(self)
        return queue


class Task:
    def __init__(self, ident, priority, work):
        self.ident, self.priority, self.work = ident, priority, work
        self.queue, self.held, self.waiting, self.runs = [], False, not work, 0

    def ready(self):
        return not self.held and (not self.waiting or len(self.queue) > 0)

    def run(self, system):
        self.runs += 1
        packet = self.queue.pop(0) if self.queue else None
        self.waiting = False
        self.step(system, packet)


class Idle(Task):
    def __init__(self, ident, count):
        super().__init__(ident, 0, True)
        self.count, self.control = count, 1

    def step(self, system, packet):
        self.count -= 1
        if self.count == 0:
            self.held = True
        elif self.control & 1 == 0:
            self.control //= 2
            system.release(4)
        else:
            self.control = self.control // 2 ^ 0xD008
            system.release(5)


class Worker(Task):
    def __init__(self, ident):
        super().__init__(ident, 1000, False)
        self.destination, self.letter = 2, 0

    def step(self, system, packet):
        if packet is None:
            self.waiting = True
            return
        self.destination = 5 - self.destination
        packet.ident, packet.datum = self.destination, 0
        for index in range(4):
            self.letter = self.letter % 26 + 1
            packet.data[index] = 64 + self.letter
        system.send(packet, self.destination)


class Handler(Task):
    def __init__(self, ident):
        super().__init__(ident, 2000, False)
        self.pending, self.devices = [], []

    def step(self, system, packet):
        if packet is not None:
            packet.append_to(self.pending if packet.kind == "work" else self.devices)
        if self.pending:
            work = self.pending[0]
            if work.datum >= 4:
                self.pending.pop(0)
                system.send(work, 1)
                return
            if self.devices:
                device = self.devices.pop(0)
                device.datum = work.data[work.datum]
                work.datum += 1
                system.send(device, self.ident + 2)
                return
        self.waiting = True


class Device(Task):
    def __init__(self, ident, back):
        super().__init__(ident, 4000, False)
        self.saved, self.back, self.output = None, back, 0

    def step(self, system, packet):
        if packet is None:
            if self.saved is None:
                self.waiting = True
                return
            done, self.saved = self.saved, None
            system.send(done, self.back)
        else:
            self.saved = packet
            self.output = (self.output * 31 + packet.datum) % 1000003
            self.held = True


class System:
    def __init__(self, tasks):
        self.tasks, self.sent, self.releases = {task.ident: task for task in tasks}, 0, 0
        self.order = sorted(tasks, key=lambda task: -task.priority)

    def send(self, packet, ident):
        self.sent += 1
        packet.link = None
        packet.append_to(self.tasks[ident].queue)

    def release(self, ident):
        self.releases += 1
        self.tasks[ident].held = False

    def schedule(self):
        turns = 0
        while True:
            for task in self.order:
                if task.ready():
                    task.run(self)
                    turns += 1
                    break
            else:
                return turns


checksum = []
for count in (9000, 10000, 11000):
    system = System([Idle(0, count), Worker(1), Handler(2), Handler(3), Device(4, 2), Device(5, 3)])
    for ident in (1, 1):
        system.send(Packet(None, ident, "work"), ident)
    for ident in (2, 2, 2, 3, 3, 3):
        system.send(Packet(None, ident, "device"), ident)
    checksum.append((system.schedule(), system.sent, system.releases, [task.runs for task in system.order], system.tasks[4].output))
print(checksum)
