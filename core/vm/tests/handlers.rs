//! Handlers of one image know nothing of each other: what an earlier one has found out for the later ones (inline caches, methods) shows
//! neither in their results nor in cycles, memory or the numbers of objects.

use cowboy_vm::{Entry, Exit, HostValue, Image, Limits, Usage, Vm, build_image, compile};
use std::sync::Arc;

const SOURCE: &str = "
import json
from cowboy_sdk import actor, public


class Point:
    scale = 2

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def far(self):
        return (self.x + self.y) * self.scale * FACTOR


class Named(Point):
    def __init__(self, x, y, name):
        super().__init__(x, y)
        self.name = name

    def far(self):
        return len(self.name) + super().far()


FACTOR = 3
KEPT = Point(5, 6)


OTHER = 1


def scale():
    return [Point.scale, Named.scale, FACTOR, OTHER]


def total(points):
    return sum(point.far() for point in points)


@actor
class Works:
    @public
    def quiet(self):
        pass

    @public
    def plain(self):
        return [total([Point(i, 1), Named(i, 2, 'n' * i)]) for i in range(4)]

    @public
    def identities(self):
        return [id(object()), hash(Point(1, 2)), repr(object()), id(KEPT), KEPT.far()]

    @public
    def changes_class(self):
        before = total([Point(1, 2), KEPT])
        Point.scale = 7
        Point.far = lambda self: self.x - self.scale
        return [before, total([Point(1, 2), KEPT]), id(object())]

    @public
    def changes_global(self):
        global FACTOR, total
        before = total([KEPT])
        FACTOR = 11
        middle = total([KEPT])
        total = len
        return [before, middle, total([KEPT])]

    @public
    def changes_object(self):
        KEPT.x = 100
        KEPT.extra = Named(1, 2, 'extra')
        return [KEPT.far(), KEPT.extra.far(), sorted(vars(KEPT)), id(object())]

    @public
    def by_dict(self):
        KEPT.__dict__['far'] = lambda: 'hidden'
        return [KEPT.far(), Point(1, 1).far()]

    # After as many changes as another handler has made, but others: what that one knows of later epochs is of no use here.
    @public
    def changes_one_class(self):
        Point.scale = 70
        return scale()

    @public
    def changes_another_class(self):
        Named.kept = 1
        return scale()

    @public
    def changes_one_global(self):
        global FACTOR
        FACTOR = 110
        return scale()

    @public
    def changes_another_global(self):
        global OTHER
        OTHER = 10
        return scale()

    @public
    def encodes(self):
        return json.dumps({'a': [1, 2.5, None], 'b': str(Point.far)[:20]})
";

fn run(image: &Arc<Image>, method: &str) -> (Vec<u8>, Usage, usize) {
    let entry = Entry::Handler { method: method.to_owned(), payload: Vec::new() };
    let mut vm = Vm::start(Arc::clone(image), entry, Limits::default());
    match vm.run() {
        Exit::Return(HostValue::Bytes(bytes)) => (bytes, vm.usage(), vm.objects()),
        exit => panic!("{method} ended with {exit:?}"),
    }
}

#[test]
fn a_64_a_handler_does_the_same_whichever_ran_before_it() {
    let unit = compile(SOURCE, "main.py").expect("valid source");
    let image = || build_image(&unit, Limits::default()).expect("a module that loads").0;
    let methods = [
        "quiet",
        "plain",
        "identities",
        "changes_class",
        "changes_global",
        "changes_object",
        "by_dict",
        "changes_one_class",
        "changes_another_class",
        "changes_one_global",
        "changes_another_global",
        "encodes",
    ];
    let alone = methods.map(|method| run(&image(), method));
    for first in 0..methods.len() {
        let image = image();
        for turn in 0..2 * methods.len() {
            let index = (first + turn) % methods.len();
            assert_eq!(run(&image, methods[index]), alone[index], "{} after {turn} others, {} first", methods[index], methods[first]);
        }
    }
}
