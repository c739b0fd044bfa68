//! The graph of calls, and its cycles.

use super::source::{Call, Crate, Function};
use std::collections::{BTreeMap, BTreeSet};

/// For each function, the functions that it may call. Too many rather than too few: a call whose target is unknown goes to every
/// function of that name with as many arguments.
pub(crate) fn calls(found: &Crate) -> BTreeMap<String, BTreeSet<String>> {
    let mut by_name: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
    for function in &found.functions {
        by_name.entry(&function.name).or_default().push(function);
    }
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for function in &found.functions {
        let targets = edges.entry(function.id.clone()).or_default();
        for call in &function.calls {
            targets.extend(resolve(found, &by_name, function, call).into_iter().map(|target| target.id.clone()));
        }
    }
    edges
}

fn resolve<'a>(found: &'a Crate, by_name: &BTreeMap<&str, Vec<&'a Function>>, caller: &Function, call: &Call) -> Vec<&'a Function> {
    match call {
        Call::Native => found.functions.iter().filter(|function| function.is_native).collect(),
        Call::Walk { owner } => {
            let is_visitor = |function: &&Function| function.name.starts_with("visit_") && function.owner.is_some();
            let same = |function: &&Function| match owner {
                Some(owner) => function.owner.as_ref() == Some(owner),
                None => function.file == caller.file,
            };
            found.functions.iter().filter(is_visitor).filter(same).collect()
        }
        Call::Path { before, name } => {
            let named = by_name.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            match before.last() {
                Some(last) if last.starts_with(char::is_uppercase) => {
                    named.iter().copied().filter(|function| function.owner.as_ref() == Some(last)).collect()
                }
                Some(_) => in_module(named, caller, before),
                None => {
                    let free = named.iter().copied().filter(|function| function.owner.is_none());
                    let near: Vec<&Function> =
                        free.clone().filter(|function| function.file == caller.file || name.ends_with('!')).collect();
                    let is_imported = found.imports.contains(&(caller.file.clone(), name.clone()));
                    if near.is_empty() && is_imported { free.collect() } else { near }
                }
            }
        }
        Call::Method { receiver, name, arity } => {
            let named = by_name.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            let methods = named.iter().copied().filter(|function| function.is_method && function.arity == *arity);
            match receiver {
                Some(receiver) => methods.filter(|function| function.owner.as_ref() == Some(receiver)).collect(),
                None => methods.collect(),
            }
        }
    }
}

/// The functions that a path through modules names: those of the module that it leads to, or else, where the name is passed on from
/// elsewhere, all of that name.
fn in_module<'a>(named: &[&'a Function], caller: &Function, before: &[String]) -> Vec<&'a Function> {
    let mut modules = caller.modules.clone();
    let mut is_absolute = true;
    for (at, part) in before.iter().enumerate() {
        match part.as_str() {
            "crate" => modules = caller.home.iter().cloned().collect(),
            "self" => {}
            "super" => drop(modules.pop()),
            part if at == 0 && part.starts_with("cowboy_") => modules = vec![part["cowboy_".len()..].to_owned()],
            part => {
                if at == 0 {
                    is_absolute = false;
                    modules.clear();
                }
                modules.push(part.to_owned());
            }
        }
    }
    let free: Vec<&Function> = named.iter().copied().filter(|function| function.owner.is_none()).collect();
    let is_there = |function: &&Function| if is_absolute { function.modules == modules } else { function.modules.ends_with(&modules) };
    let there: Vec<&Function> = free.iter().copied().filter(is_there).collect();
    // What a crate passes on is its own.
    let home = before.first().and_then(|first| first.strip_prefix("cowboy_"));
    let passed_on = free.into_iter().filter(|function| home.is_none() || function.home.as_deref() == home);
    if there.is_empty() && is_absolute { passed_on.collect() } else { there }
}

/// The sets of nodes that reach themselves, each sorted.
pub(crate) fn cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let names: Vec<&String> = edges.keys().collect();
    let number: BTreeMap<&String, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let out: Vec<Vec<usize>> =
        names.iter().map(|name| edges[*name].iter().filter_map(|target| number.get(target).copied()).collect()).collect();
    let mut state = Search { out: &out, index: vec![None; out.len()], low: vec![0; out.len()], stack: Vec::new(), found: Vec::new() };
    for node in 0..out.len() {
        if state.index[node].is_none() {
            state.from(node);
        }
    }
    let mut found: Vec<Vec<String>> = state
        .found
        .into_iter()
        .filter(|nodes| nodes.len() > 1 || out[nodes[0]].contains(&nodes[0]))
        .map(|nodes| {
            let mut nodes: Vec<String> = nodes.into_iter().map(|node| names[node].clone()).collect();
            nodes.sort();
            nodes
        })
        .collect();
    found.sort();
    found
}

/// Tarjan's strongly connected components, with a stack of its own.
struct Search<'a> {
    out: &'a [Vec<usize>],
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    stack: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn from(&mut self, root: usize) {
        let mut next = self.index.iter().flatten().count();
        let mut path = vec![(root, 0)];
        let mut on_stack = vec![false; self.out.len()];
        while let Some((node, child)) = path.pop() {
            if child == 0 {
                self.index[node] = Some(next);
                self.low[node] = next;
                next += 1;
                self.stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&target) = self.out[node].get(child) {
                path.push((node, child + 1));
                match self.index[target] {
                    None => path.push((target, 0)),
                    Some(index) if on_stack[target] => self.low[node] = self.low[node].min(index),
                    Some(_) => {}
                }
                continue;
            }
            if let Some(&(parent, _)) = path.last() {
                self.low[parent] = self.low[parent].min(self.low[node]);
            }
            if Some(self.low[node]) == self.index[node] {
                let from = self.stack.iter().position(|&other| other == node).expect("its own search put it there");
                let nodes = self.stack.split_off(from);
                nodes.iter().for_each(|&node| on_stack[node] = false);
                self.found.push(nodes);
            }
        }
    }
}
