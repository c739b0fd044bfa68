//! Making instances of classes, below the calls of `__new__` and `__init__`.

use super::Vm;
use crate::error::Outcome;
use crate::payload::{Attributes, Exception, List, Payload, Str};
use crate::types::{EMPTY_TUPLE, FIXED_COUNT, Layout, nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    pub(crate) fn check_abstract(&mut self, class: Ref) -> Outcome<()> {
        if class.0 < FIXED_COUNT {
            return Ok(());
        }
        let Some(methods) = self.lookup(class, nm::ABSTRACT_METHODS) else { return Ok(()) };
        let mut names: Vec<String> = Vec::new();
        for item in self.heap.sequence_snapshot(methods) {
            names.push(self.heap.text(item).unwrap_or_default().to_owned());
        }
        if names.is_empty() {
            return Ok(());
        }
        names.sort();
        let plural = if names.len() == 1 { "" } else { "s" };
        let message = format!(
            "Can't instantiate abstract class {} with abstract method{plural} {}",
            self.heap.name_of_class(class),
            names.join(", ")
        );
        Err(self.type_error(message))
    }

    /// A fresh, empty instance of a builtin class or a class below it.
    pub(crate) fn new_builtin(&mut self, class: Ref) -> Outcome {
        self.check_abstract(class)?;
        let layout = self.heap.layout(class);
        let inner = match layout {
            Layout::Object => return self.new_instance(class),
            Layout::Int => Payload::Scalar(Value::Int(0)),
            Layout::Float => Payload::Scalar(Value::Float(cowboy_num::F64::ZERO)),
            Layout::Complex => Payload::Complex(cowboy_num::complex::Complex::new(cowboy_num::F64::ZERO, cowboy_num::F64::ZERO)),
            Layout::Str => Payload::Str(Str::new(String::new())),
            Layout::Bytes => Payload::Bytes(Vec::new()),
            Layout::ByteArray => Payload::ByteArray(Vec::new(), 0),
            Layout::List => Payload::List(List::default()),
            Layout::Tuple => Payload::Tuple(Box::default()),
            Layout::Dict => Payload::Dict(self.heap.spares.table()),
            Layout::Set | Layout::FrozenSet => Payload::Set(self.heap.spares.table()),
            Layout::Exception => {
                self.heap.retain(Value::Obj(class));
                let exception = Exception {
                    args: Value::Obj(EMPTY_TUPLE),
                    cause: Value::None,
                    context: Value::None,
                    suppress: false,
                    trace: Vec::new(),
                    shown: Value::None,
                    attributes: Attributes::default(),
                };
                return Ok(self.heap.make(class, Payload::Exception(Box::new(exception))));
            }
            Layout::StaticMethod => Payload::StaticMethod(Value::None),
            Layout::ClassMethod => Payload::ClassMethod(Value::None),
            Layout::Property => Payload::Property(Box::new([Value::None; 5])),
            Layout::Alias | Layout::Type | Layout::Sealed => {
                let message = format!("cannot create '{}' instances", self.heap.name_of_class(class));
                return Err(self.type_error(message));
            }
        };
        Ok(self.heap.wrap_builtin(class, inner))
    }

    /// A fresh instance of a class that inherits from `object` alone.
    pub(crate) fn new_instance(&mut self, class: Ref) -> Outcome {
        self.check_abstract(class)?;
        if class.0 < FIXED_COUNT && class != ty::OBJECT {
            let message = format!("cannot create '{}' instances", self.heap.name_of_class(class));
            return Err(self.type_error(message));
        }
        self.heap.retain(Value::Obj(class));
        if class == ty::OBJECT {
            return Ok(self.heap.make(class, Payload::Plain));
        }
        Ok(self.heap.instance(class))
    }
}
