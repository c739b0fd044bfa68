//! The forms of the types that arguments, results and events are made of.

use super::{Form, Refused, Shape};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, ChainId, Count, Height, Price, TimestampMs};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, List, Text};

const REFUSED: Refused = Refused::WHOLE;

impl Form for () {
    const SHAPE: Shape = Shape::Null;

    fn read(value: &Value) -> Result<Self, Refused> {
        if *value == Value::Null { Ok(()) } else { Err(REFUSED) }
    }

    fn write(&self) -> Value {
        Value::Null
    }
}

impl Form for Value {
    const SHAPE: Shape = Shape::Any;

    fn read(value: &Value) -> Result<Self, Refused> {
        Ok(value.clone())
    }

    fn write(&self) -> Value {
        self.clone()
    }
}

impl Form for bool {
    const SHAPE: Shape = Shape::Bool;

    fn read(value: &Value) -> Result<Self, Refused> {
        if let Value::Bool(truth) = value { Ok(*truth) } else { Err(REFUSED) }
    }

    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

macro_rules! numbers {
    ($($Type:ty: $make:expr, $take:expr;)+) => { $(
        impl Form for $Type {
            const SHAPE: Shape = Shape::Number;

            fn read(value: &Value) -> Result<Self, Refused> {
                value.as_u64().and_then($make).ok_or(REFUSED)
            }

            fn write(&self) -> Value {
                Value::uint($take(self))
            }
        }
    )+ };
}

numbers! {
    u64: Some, |number: &u64| *number;
    u8: |number| u8::try_from(number).ok(), |number: &u8| u64::from(*number);
    u16: |number| u16::try_from(number).ok(), |number: &u16| u64::from(*number);
    Amount: |number| Some(Amount(number)), |amount: &Amount| amount.0;
    ChainId: |number| Some(ChainId(number)), |id: &ChainId| id.0;
    Count: |number| Some(Count(number)), |count: &Count| count.0;
    Height: |number| Some(Height(number)), |height: &Height| height.0;
    Price: |number| Some(Price(number)), |price: &Price| price.0;
    TimestampMs: |number| Some(TimestampMs(number)), |time: &TimestampMs| time.0;
}

impl Form for i64 {
    const SHAPE: Shape = Shape::Number;

    fn read(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::Integer(number) => i64::try_from(*number).map_err(|_| REFUSED),
            _ => Err(REFUSED),
        }
    }

    fn write(&self) -> Value {
        Value::Integer(i128::from(*self))
    }
}

impl Form for u128 {
    const SHAPE: Shape = Shape::Units;

    fn read(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::Integer(number) => u128::try_from(*number).map_err(|_| REFUSED),
            Value::Bytes(bytes) => Ok(u128::from_be_bytes(bytes[..].try_into().map_err(|_| REFUSED)?)),
            _ => Err(REFUSED),
        }
    }

    fn write(&self) -> Value {
        u64::try_from(*self).map_or_else(|_| Value::Bytes(self.to_be_bytes().to_vec()), Value::uint)
    }
}

macro_rules! fixed_bytes {
    ($($Type:ty $([const $N:ident])?: $shape:expr, $make:expr;)+) => { $(
        impl$(<const $N: usize>)? Form for $Type {
            const SHAPE: Shape = $shape;

            fn read(value: &Value) -> Result<Self, Refused> {
                value.as_bytes().and_then(|bytes| bytes.try_into().ok()).map($make).ok_or(REFUSED)
            }

            fn write(&self) -> Value {
                Value::Bytes(self.0.to_vec())
            }
        }
    )+ };
}

fixed_bytes! {
    Address: Shape::Address, Address;
    Hash: Shape::Hash, Hash;
    Fixed<N> [const N]: Shape::Fixed(N), Fixed;
}

impl<const MAX: usize> Form for Text<MAX> {
    const SHAPE: Shape = Shape::Text(MAX);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_text().and_then(Text::new).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::text(self.to_string())
    }
}

impl Form for String {
    const SHAPE: Shape = Shape::Text(0);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_text().map(str::to_owned).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::text(self.as_str())
    }
}

impl<const MAX: usize> Form for Blob<MAX> {
    const SHAPE: Shape = Shape::Bytes(MAX);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_bytes().and_then(|bytes| Blob::new(bytes.to_vec())).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::Bytes(self.to_vec())
    }
}

impl Form for Vec<u8> {
    const SHAPE: Shape = Shape::Bytes(0);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_bytes().map(<[u8]>::to_vec).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::Bytes(self.clone())
    }
}

impl<T: Form> Form for Option<T> {
    const SHAPE: Shape = Shape::Optional(&T::SHAPE);

    fn read(value: &Value) -> Result<Self, Refused> {
        if *value == Value::Null { Ok(None) } else { T::read(value).map(Some) }
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, Form::write)
    }

    fn brief(&self) -> Value {
        self.as_ref().map_or(Value::Null, Form::brief)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Form, const MAX: usize> Form for List<T, MAX> {
    const SHAPE: Shape = Shape::List(&T::SHAPE, MAX);

    fn read(value: &Value) -> Result<Self, Refused> {
        let Value::Array(items) = value else { return Err(REFUSED) };
        if items.len() > MAX {
            return Err(REFUSED);
        }
        List::new(items.iter().map(T::read).collect::<Result<Vec<T>, Refused>>()?).ok_or(REFUSED)
    }

    fn write(&self) -> Value {
        Value::Array(self.iter().map(Form::write).collect())
    }

    fn brief(&self) -> Value {
        Value::Array(self.iter().map(Form::brief).collect())
    }
}
