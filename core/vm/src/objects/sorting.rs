//! Sorting of items that compare natively: by a total order where the items have one, otherwise by the algorithm of CPython 3.11's
//! `list.sort`, so that the result is the same where `<` is no total order. `frozen/_builtins/sorting.py` does the same for items that
//! compare in Python.

use crate::costs::{ITEM_LOOKED_AT, ITEM_SORTED, TEXT_COMPARED};
use crate::error::Outcome;
use crate::frame::CompareOp;
use crate::heap::order::SHORT_TEXT;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::protocol::Compare;
use crate::value::{Ref, Value};
use crate::window::afresh;
use cowboy_num::sizes;
use std::cmp::Ordering;

/// Items in order, stable; `Fallback` when they compare in Python.
pub(crate) fn sorted(vm: &mut Vm, mut items: Vec<Value>, reverse: bool) -> Outcome<Vec<Value>> {
    let length = items.len();
    let rounds = sizes::saturating(length.max(1).ilog2()) + 1;
    vm.spend(ITEM_SORTED.of(length).times(rounds))?;
    if reverse {
        items.reverse();
    }
    if items.iter().all(|item| matches!(item, Value::Int(_))) {
        items.sort_by_key(|item| match item {
            Value::Int(number) => *number,
            _ => 0,
        });
    } else if items.iter().all(|&item| vm.heap.text(item).is_some() && !vm.heap.is_python_instance(item)) {
        let long: usize = items.iter().filter_map(|&item| vm.heap.text(item)).map(str::len).filter(|&length| length > SHORT_TEXT).sum();
        vm.spend(TEXT_COMPARED.of(long).times(rounds))?;
        items.sort_by(|&a, &b| vm.heap.text(a).cmp(&vm.heap.text(b)));
    } else if let Some(mut pairs) = items.iter().map(|item| number_pair(vm, item)).collect::<Option<Vec<_>>>() {
        pairs.sort_by_key(|&(first, second, _)| (first, second));
        items = pairs.into_iter().map(|(_, _, pair)| pair).collect();
    } else if !items.windows(2).all(|pair| matches!(vm.heap.order(&pair[0], &pair[1]), Some(Ordering::Less | Ordering::Equal))) {
        items = Runs::in_order(vm, items)?;
    }
    if reverse {
        items.reverse();
    }
    Ok(items)
}

/// The numbers of a pair of them, and the pair.
fn number_pair(vm: &Vm, pair: &Value) -> Option<(i64, i64, Value)> {
    let Value::Obj(object) = *pair else { return None };
    match vm.heap.payload(object) {
        Payload::Tuple(items) => match **items {
            [Value::Int(first), Value::Int(second)] => Some((first, second, afresh(pair))),
            _ => None,
        },
        _ => None,
    }
}

/// How often in a row one run must win before whole stretches of it are looked for.
const MIN_GALLOP: usize = 7;

/// Items of a tuple that are compared with those of another one for the price of looking at them. Longer ones pay for what is compared.
const FEW: usize = 4;

/// A run of items in order: its start, its length, and the power of the boundary after it.
struct Run {
    start: usize,
    count: usize,
    power: u32,
}

/// Items that are sorted by merging runs.
struct Runs<'a> {
    vm: &'a mut Vm,
    items: Vec<Value>,
    pending: Vec<Run>,
    gallop: usize,
}

impl Runs<'_> {
    /// The items in order, stable. Errors: those of the comparisons.
    fn in_order(vm: &mut Vm, items: Vec<Value>) -> Outcome<Vec<Value>> {
        let mut runs = Runs { vm, items, pending: Vec::new(), gallop: MIN_GALLOP };
        runs.sort()?;
        Ok(runs.items)
    }

    fn less(&mut self, a: Value, b: Value) -> Outcome<bool> {
        // A pair of items inside tuples is looked at for each comparison.
        if let (Value::Obj(one), Value::Obj(other)) = (a, b) {
            let length = |tuple: Ref| match self.vm.heap.payload(tuple) {
                Payload::Tuple(items) => items.len(),
                _ => 0,
            };
            let inside = length(one).min(length(other)).min(FEW);
            self.vm.spend(ITEM_LOOKED_AT.of(inside))?;
        }
        if let Some(ordering) = self.vm.heap.order(&a, &b) {
            return Ok(ordering == Ordering::Less);
        }
        if let Some(less) = self.vm.compare_native(CompareOp::Lt, a, b)? {
            return Ok(less);
        }
        let (a, b) = (self.vm.heap.class_name(a), self.vm.heap.class_name(b));
        Err(self.vm.type_error(format!("'<' not supported between instances of '{a}' and '{b}'")))
    }

    fn sort(&mut self) -> Outcome<()> {
        let length = self.items.len();
        let (mut shortest, mut odd) = (length, 0);
        while shortest >= 64 {
            odd |= shortest & 1;
            shortest >>= 1;
        }
        shortest += odd;
        let mut start = 0;
        while start < length {
            let mut count = self.count_run(start)?;
            if count < shortest {
                let forced = shortest.min(length - start);
                self.insert_each(start, start + count, start + forced)?;
                count = forced;
            }
            if let Some(last) = self.pending.last() {
                let power = power_between(last, count, length);
                while self.pending.len() > 1 && self.pending[self.pending.len() - 2].power > power {
                    self.merge_at(self.pending.len() - 2)?;
                }
                if let Some(last) = self.pending.last_mut() {
                    last.power = power;
                }
            }
            self.pending.push(Run { start, count, power: 0 });
            start += count;
        }
        while self.pending.len() > 1 {
            let at = self.pending.len() - 2;
            let earlier = at > 0 && self.pending[at - 1].count < self.pending[at + 1].count;
            self.merge_at(if earlier { at - 1 } else { at })?;
        }
        Ok(())
    }

    /// How many items from `start` on are in order. A run that descends strictly is reversed.
    fn count_run(&mut self, start: usize) -> Outcome<usize> {
        let mut at = start + 1;
        if at == self.items.len() {
            return Ok(1);
        }
        let descends = self.less(self.items[at], self.items[start])?;
        at += 1;
        while at < self.items.len() && self.less(self.items[at], self.items[at - 1])? == descends {
            at += 1;
        }
        if descends {
            self.items[start..at].reverse();
        }
        Ok(at - start)
    }

    /// Puts the items from `middle` to `end` where they belong among those from `start` on, by bisection.
    fn insert_each(&mut self, start: usize, middle: usize, end: usize) -> Outcome<()> {
        for at in middle..end {
            let pivot = self.items[at];
            let (mut low, mut high) = (start, at);
            while low < high {
                let half = low + (high - low) / 2;
                if self.less(pivot, self.items[half])? {
                    high = half;
                } else {
                    low = half + 1;
                }
            }
            self.items[low..=at].rotate_right(1);
        }
        Ok(())
    }

    fn merge_at(&mut self, at: usize) -> Outcome<()> {
        let Run { start: b, count: in_b, .. } = self.pending.remove(at + 1);
        let Run { start: mut a, count: mut in_a, .. } = self.pending[at];
        self.pending[at].count = in_a + in_b;
        // What begins the first run and what ends the second one is in its place already.
        let skipped = self.gallop_right(self.items[b], None, a, in_a, 0)?;
        a += skipped;
        in_a -= skipped;
        if in_a == 0 {
            return Ok(());
        }
        let in_b = self.gallop_left(self.items[b - 1], None, b, in_b, in_b - 1)?;
        if in_b == 0 {
            return Ok(());
        }
        if in_a <= in_b {
            let (left, end) = (self.items[a..b].to_vec(), b + in_b);
            let (a, b) = self.merge_low(&left, b, end)?;
            let rest = left.len() - a;
            self.items.copy_within(b..end, b - rest);
            self.items[end - rest..end].copy_from_slice(&left[a..]);
        } else {
            let right = self.items[b..b + in_b].to_vec();
            let (end_a, end_b) = self.merge_high(a, b, &right)?;
            self.items.copy_within(a..end_a, a + end_b);
            self.items[a..a + end_b].copy_from_slice(&right[..end_b]);
        }
        Ok(())
    }

    /// Merges a copied first run with a second one, from the front, until one of them is nearly used up: where both are then.
    fn merge_low(&mut self, left: &[Value], mut b: usize, end: usize) -> Outcome<(usize, usize)> {
        let (mut a, count, mut least) = (0, left.len(), self.gallop);
        // What is left of the first run lies apart, so there is room for as many items before the second one.
        let take_b = |items: &mut [Value], a: usize, b: &mut usize, taken: usize| {
            items.copy_within(*b..*b + taken, *b - (count - a));
            *b += taken;
        };
        let take_a = |items: &mut [Value], a: &mut usize, b: usize, taken: usize| {
            let dest = b - (count - *a);
            items[dest..dest + taken].copy_from_slice(&left[*a..*a + taken]);
            *a += taken;
        };
        take_b(&mut self.items, a, &mut b, 1);
        if b == end || a + 1 == count {
            return Ok((a, b));
        }
        loop {
            let (mut in_a, mut in_b) = (0, 0);
            while in_a < least && in_b < least {
                if self.less(self.items[b], left[a])? {
                    take_b(&mut self.items, a, &mut b, 1);
                    (in_a, in_b) = (0, in_b + 1);
                } else {
                    take_a(&mut self.items, &mut a, b, 1);
                    (in_a, in_b) = (in_a + 1, 0);
                }
                if b == end || a + 1 == count {
                    return Ok((a, b));
                }
            }
            least += 1;
            loop {
                least = (least - 1).max(1);
                self.gallop = least;
                in_a = self.gallop_right(self.items[b], Some(left), a, count - a, 0)?;
                take_a(&mut self.items, &mut a, b, in_a);
                if in_a > 0 && a + 1 >= count {
                    return Ok((a, b));
                }
                take_b(&mut self.items, a, &mut b, 1);
                if b == end {
                    return Ok((a, b));
                }
                in_b = self.gallop_left(left[a], None, b, end - b, 0)?;
                take_b(&mut self.items, a, &mut b, in_b);
                if b == end {
                    return Ok((a, b));
                }
                take_a(&mut self.items, &mut a, b, 1);
                if a + 1 == count {
                    return Ok((a, b));
                }
                if in_a < MIN_GALLOP && in_b < MIN_GALLOP {
                    break;
                }
            }
            least += 1;
            self.gallop = least;
        }
    }

    /// Merges a first run, which ends at `a`, with a copied second one, from the end, until one of them is nearly used up: where both end
    /// then.
    fn merge_high(&mut self, start: usize, mut a: usize, right: &[Value]) -> Outcome<(usize, usize)> {
        let (mut b, mut least) = (right.len(), self.gallop);
        // What is left of the second run lies apart, so there is room for as many items after the first one.
        let take_a = |items: &mut [Value], a: &mut usize, b: usize, taken: usize| {
            *a -= taken;
            items.copy_within(*a..*a + taken, *a + b);
        };
        let take_b = |items: &mut [Value], a: usize, b: &mut usize, taken: usize| {
            *b -= taken;
            items[a + *b..a + *b + taken].copy_from_slice(&right[*b..*b + taken]);
        };
        take_a(&mut self.items, &mut a, b, 1);
        if a == start || b == 1 {
            return Ok((a, b));
        }
        loop {
            let (mut in_a, mut in_b) = (0, 0);
            while in_a < least && in_b < least {
                if self.less(right[b - 1], self.items[a - 1])? {
                    take_a(&mut self.items, &mut a, b, 1);
                    (in_a, in_b) = (in_a + 1, 0);
                } else {
                    take_b(&mut self.items, a, &mut b, 1);
                    (in_a, in_b) = (0, in_b + 1);
                }
                if a == start || b == 1 {
                    return Ok((a, b));
                }
            }
            least += 1;
            loop {
                least = (least - 1).max(1);
                self.gallop = least;
                let count = a - start;
                in_a = count - self.gallop_right(right[b - 1], None, start, count, count - 1)?;
                take_a(&mut self.items, &mut a, b, in_a);
                if a == start {
                    return Ok((a, b));
                }
                take_b(&mut self.items, a, &mut b, 1);
                if b == 1 {
                    return Ok((a, b));
                }
                in_b = b - self.gallop_left(self.items[a - 1], Some(right), 0, b, b - 1)?;
                take_b(&mut self.items, a, &mut b, in_b);
                if in_b > 0 && b <= 1 {
                    return Ok((a, b));
                }
                take_a(&mut self.items, &mut a, b, 1);
                if a == start {
                    return Ok((a, b));
                }
                if in_a < MIN_GALLOP && in_b < MIN_GALLOP {
                    break;
                }
            }
            least += 1;
            self.gallop = least;
        }
    }

    /// An item of the items themselves, or of a run that was copied.
    fn at(&self, copied: Option<&[Value]>, position: usize) -> Value {
        copied.map_or_else(|| self.items[position], |run| run[position])
    }

    /// Where a key belongs in a run, before those equal to it; looked for from `hint` outwards.
    fn gallop_left(&mut self, key: Value, run: Option<&[Value]>, start: usize, count: usize, hint: usize) -> Outcome<usize> {
        let (mut before, mut offset) = (0, 1);
        let (mut low, mut high);
        if self.less(self.at(run, start + hint), key)? {
            let most = count - hint;
            while offset < most && self.less(self.at(run, start + hint + offset), key)? {
                (before, offset) = (offset, 2 * offset + 1);
            }
            (low, high) = (hint + before + 1, hint + offset.min(most));
        } else {
            let most = hint + 1;
            while offset < most && !self.less(self.at(run, start + hint - offset), key)? {
                (before, offset) = (offset, 2 * offset + 1);
            }
            (low, high) = (most - offset.min(most), hint - before);
        }
        while low < high {
            let half = low + (high - low) / 2;
            if self.less(self.at(run, start + half), key)? {
                low = half + 1;
            } else {
                high = half;
            }
        }
        Ok(high)
    }

    /// Where a key belongs in a run, after those equal to it; looked for from `hint` outwards.
    fn gallop_right(&mut self, key: Value, run: Option<&[Value]>, start: usize, count: usize, hint: usize) -> Outcome<usize> {
        let (mut before, mut offset) = (0, 1);
        let (mut low, mut high);
        if self.less(key, self.at(run, start + hint))? {
            let most = hint + 1;
            while offset < most && self.less(key, self.at(run, start + hint - offset))? {
                (before, offset) = (offset, 2 * offset + 1);
            }
            (low, high) = (most - offset.min(most), hint - before);
        } else {
            let most = count - hint;
            while offset < most && !self.less(key, self.at(run, start + hint + offset))? {
                (before, offset) = (offset, 2 * offset + 1);
            }
            (low, high) = (hint + before + 1, hint + offset.min(most));
        }
        while low < high {
            let half = low + (high - low) / 2;
            if self.less(key, self.at(run, start + half))? {
                high = half;
            } else {
                low = half + 1;
            }
        }
        Ok(high)
    }
}

/// The power of the boundary between a run and the one of `after` items that follows it (Munro and Wild's powersort).
fn power_between(run: &Run, after: usize, length: usize) -> u32 {
    let mut low = 2 * run.start + run.count;
    let mut high = low + run.count + after;
    let mut power = 1;
    while low >= length || high < length {
        if low >= length {
            low -= length;
            high -= length;
        }
        low *= 2;
        high *= 2;
        power += 1;
    }
    power
}
