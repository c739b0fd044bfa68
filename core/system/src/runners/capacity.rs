//! What a runner gives to one container.

use crate::market::container::PLATFORMS;
use crate::schema::{Form, Refused, Shape, form};
use cowboy_types::List;
use cowboy_types::cbor::Value;
use cowboy_types::job::Capacity;
use cowboy_types::units::Count;

const PLATFORM_NAMES: [&str; PLATFORMS.len()] = [PLATFORMS[0].0, PLATFORMS[1].0];

/// A platform of containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Platform(&'static (&'static str, u8));

impl Platform {
    /// Its bit in a runner's record.
    fn bit(self) -> u8 {
        self.0.1
    }
}

impl Form for Platform {
    const SHAPE: Shape = Shape::Word(&PLATFORM_NAMES);

    fn read(value: &Value) -> Result<Self, Refused> {
        let name = value.as_text().ok_or(Refused::WHOLE)?;
        PLATFORMS.iter().find(|(known, _)| *known == name).map(Self).ok_or(Refused::WHOLE)
    }

    fn write(&self) -> Value {
        Value::text(self.0.0)
    }
}

form! {
    /// What a runner gives to one container.
    pub(crate) struct ContainerCapacity {
        /// Thousandths of a processor.
        cpu_millicores: Count,
        /// Mebibytes of memory.
        memory_mib: Count,
        /// Mebibytes of files.
        scratch_mib: Count,
        /// The platforms that it runs; at least one.
        platforms: List<Platform, 2>,
        /// Whether it mounts volumes.
        volumes: bool,
    }
}

impl From<ContainerCapacity> for Capacity {
    fn from(given: ContainerCapacity) -> Self {
        let ContainerCapacity { cpu_millicores, memory_mib, scratch_mib, platforms, volumes } = given;
        let platforms = platforms.iter().fold(0, |bits, platform| bits | platform.bit());
        Self { cpu_millicores, memory_mib, scratch_mib, platforms, volumes }
    }
}
