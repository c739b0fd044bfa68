//! Arguments become the parameters of functions written in Python.

use super::Vm;
use crate::costs::{KEYWORD_DEFAULT, PARAMETER_PASSED, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::image::LinkedCode;
use crate::payload::Payload;
use crate::runtime::protocol::Hashing;
use crate::value::{Ref, Value};
use cowboy_compiler::code::Code;

/// Bytes of a message around the name of a parameter: its quotes, and what stands before the next one.
const AROUND_NAME: usize = 4;

impl Vm {
    /// Binds arguments to parameters. Takes the references over; the result is one value per parameter register.
    pub(super) fn bind(&mut self, function: Ref, linked: &LinkedCode, arguments: Vec<Value>, names: Option<Ref>) -> Outcome<Vec<Value>> {
        let code = &linked.code;
        let positional = usize::from(code.positional);
        let named = positional + usize::from(code.keyword_only);
        let mut bound = vec![Value::Undefined; code.parameters()];
        let names: Vec<Value> = match names {
            Some(names) => self.heap.tuple_items(Value::Obj(names)),
            None => Vec::new(),
        };
        let given = arguments.len() - names.len();
        let mut extra = Vec::new();
        // Each keyword is looked for among all parameters.
        if let Err(throw) = self.spend(PARAMETER_PASSED.of(names.len().saturating_mul(named))) {
            self.heap.release_all(arguments);
            return Err(throw);
        }
        let mut rest = arguments.into_iter();
        for (index, value) in rest.by_ref().take(given).enumerate() {
            if index < positional {
                bound[index] = value;
            } else {
                extra.push(value);
            }
        }
        let too_many = !extra.is_empty() && !code.var_positional;
        let var_keyword = if code.var_keyword { Some(self.heap.new_dict()) } else { None };
        let mut error: Option<Throw> = None;
        for (name, value) in names.iter().zip(rest) {
            if error.is_some() {
                self.heap.release(value);
                continue;
            }
            let known = name
                .object()
                .and_then(|name| self.heap.intern_object(name))
                .and_then(|name| linked.parameters[..named].iter().position(|&parameter| parameter == name));
            match known {
                Some(index) if index >= usize::from(code.positional_only) => {
                    if bound[index].is_undefined() {
                        bound[index] = value;
                    } else {
                        self.heap.release(value);
                        let message = self.keyword_message(function, *name, "got multiple values for argument");
                        error = Some(self.type_error(message));
                    }
                }
                known => match var_keyword {
                    Some(dict) => {
                        let key = self.heap.retain(*name);
                        self.dict_insert_text(dict, key, value);
                    }
                    None => {
                        self.heap.release(value);
                        let message = if known.is_some() {
                            self.keyword_message(function, *name, "got some positional-only arguments passed as keyword arguments:")
                        } else {
                            self.keyword_message(function, *name, "got an unexpected keyword argument")
                        };
                        error = Some(self.type_error(message));
                    }
                },
            }
        }
        if error.is_none() && too_many {
            error = Some(self.too_many_error(function, linked, given, &bound));
        }
        if error.is_none() {
            error = self.fill_defaults(function, linked, &mut bound);
        }
        if let Some(error) = error {
            self.heap.release_all(extra);
            self.heap.release_all(bound);
            if let Some(dict) = var_keyword {
                self.heap.release(Value::Obj(dict));
            }
            return Err(self.in_words_of_c(linked, given, &names, error));
        }
        let mut next = named;
        if code.var_positional {
            bound[next] = self.heap.tuple(extra);
            next += 1;
        }
        if let Some(dict) = var_keyword {
            bound[next] = Value::Obj(dict);
        }
        Ok(bound)
    }

    /// What is wrong with a keyword.
    fn keyword_message(&mut self, function: Ref, name: Value, problem: &str) -> String {
        let (function, name) = (self.function_name(function), self.shown_text(name));
        format!("{function}() {problem} '{name}'")
    }

    fn function_name(&mut self, function: Ref) -> String {
        let name = match self.heap.payload(function) {
            Payload::Function(row) => row.qualname,
            _ => Value::None,
        };
        self.shown_text(name)
    }

    fn fill_defaults(&mut self, function: Ref, linked: &LinkedCode, bound: &mut [Value]) -> Option<Throw> {
        let code = &linked.code;
        let positional = usize::from(code.positional);
        let named = positional + usize::from(code.keyword_only);
        if bound[..named].iter().all(|value| !value.is_undefined()) {
            return None;
        }
        let (defaults, keyword_defaults) = match self.heap.payload(function) {
            Payload::Function(row) => (row.defaults, row.keyword_defaults),
            _ => (Value::None, Value::None),
        };
        // A program may set more defaults than there are parameters: the last ones count.
        for back in 1..=positional {
            let defaults = self.heap.tuple_ref(defaults);
            let Some(index) = defaults.len().checked_sub(back) else { break };
            let value = defaults[index];
            if bound[positional - back].is_undefined() {
                bound[positional - back] = self.heap.retain(value);
            }
        }
        if let Value::Obj(dict) = keyword_defaults {
            for (value, name) in bound[positional..named].iter_mut().zip(&linked.parameters[positional..named]) {
                if value.is_undefined() {
                    self.owe(KEYWORD_DEFAULT.once());
                    match self.keyword_default(dict, *name) {
                        Ok(found) => *value = found,
                        Err(throw) => return Some(throw),
                    }
                }
            }
        }
        self.missing_error(function, code, bound)
    }

    /// The default of a keyword-only parameter, retained; undefined where there is none. A key that compares in Python is no name.
    fn keyword_default(&mut self, dict: Ref, name: Ref) -> Outcome {
        let name = Value::Obj(name);
        let hash = self.hash_native(name)?;
        match self.dict_find(dict, name, hash) {
            Ok(Some(position)) => {
                let value = self.heap.dict_value_at(dict, position);
                Ok(self.heap.retain(value))
            }
            Ok(None) | Err(Throw::Fallback) => Ok(Value::Undefined),
            Err(throw) => Err(throw),
        }
    }

    /// TypeError for the parameters that have no value, when there are any.
    fn missing_error(&mut self, function: Ref, code: &Code, bound: &[Value]) -> Option<Throw> {
        let positional = usize::from(code.positional);
        let named = positional + usize::from(code.keyword_only);
        for (range, sort) in [(0..positional, "positional"), (positional..named, "keyword-only")] {
            let missing: Vec<usize> = range.filter(|&index| bound[index].is_undefined()).collect();
            let length: usize = missing.iter().map(|&index| code.local_names[index].len() + AROUND_NAME).sum();
            if let Err(throw) = self.spend(TEXT_WRITTEN.of(length)) {
                return Some(throw);
            }
            let missing: Vec<String> = missing.into_iter().map(|index| format!("'{}'", code.local_names[index])).collect();
            if !missing.is_empty() {
                let list = match missing.as_slice() {
                    [one] => one.clone(),
                    [one, two] => format!("{one} and {two}"),
                    [first @ .., last] => format!("{}, and {last}", first.join(", ")),
                    [] => String::new(),
                };
                let message = format!(
                    "{}() missing {} required {sort} argument{}: {list}",
                    self.function_name(function),
                    missing.len(),
                    if missing.len() == 1 { "" } else { "s" }
                );
                return Some(self.type_error(message));
            }
        }
        None
    }

    fn too_many_error(&mut self, function: Ref, linked: &LinkedCode, given: usize, bound: &[Value]) -> Throw {
        let code = &linked.code;
        let positional = usize::from(code.positional);
        let defaults = match self.heap.payload(function) {
            Payload::Function(row) => self.heap.tuple_ref(row.defaults).len(),
            _ => 0,
        };
        let signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        // Below zero where a program has set more defaults than there are parameters, as CPython has it.
        let fewest = || signed(positional).saturating_sub(signed(defaults));
        let takes = if defaults > 0 { format!("from {} to {positional}", fewest()) } else { positional.to_string() };
        let plural = if defaults == 0 && positional == 1 { "" } else { "s" };
        let keyword_only =
            bound[positional..positional + usize::from(code.keyword_only)].iter().filter(|value| !value.is_undefined()).count();
        let message = if keyword_only > 0 {
            format!(
                "{}() takes {takes} positional argument{plural} but {given} positional argument{} (and {keyword_only} keyword-only argument{}) were given",
                self.function_name(function),
                if given == 1 { "" } else { "s" },
                if keyword_only == 1 { "" } else { "s" },
            )
        } else {
            format!(
                "{}() takes {takes} positional argument{plural} but {given} {} given",
                self.function_name(function),
                if given == 1 { "was" } else { "were" }
            )
        };
        self.type_error(message)
    }
}
