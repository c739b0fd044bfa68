//! Sorted sets of names inside the state: B-trees whose nodes are records.
//!
//! The store keeps records by digest, in no useful order. What has to be enumerated in order (an actor's
//! storage keys, the due timers, a mailbox) is therefore also listed in a directory: pages of at most
//! [`PAGE_NAMES`] names, each a record of its own, so that an insertion rewrites one page.

use crate::key::{Key, Kind};
use crate::world::{Miss, World};
use bytes::Bytes;
use cowboy_types::units::Count;
use cowboy_types::{Address, Blob, List, actors, record, variants};

/// The most names of a page, and children of an inner node.
pub const PAGE_NAMES: usize = 64;

/// The longest name.
pub const NAME_BYTES: usize = 4_160;

/// A name in a directory.
type Name = Blob<NAME_BYTES>;

record! {
    /// Where a directory's tree begins.
    pub struct Root {
        /// The node at the top.
        pub top: Count,
        /// The number of the next new node.
        pub next: Count,
        /// How many names there are.
        pub count: Count,
    }
}

record! {
    /// A child of an inner node.
    pub struct Child {
        /// No name below the child is smaller, unless the child is the first.
        pub first: Name,
        /// The child's number.
        pub node: Count,
    }
}

variants! {
    /// A node of the tree. One more than a page fits while a split is under way.
    pub enum Node {
        /// Names, ascending.
        0 Page {
            /// The names.
            names: List<Name, 65>,
        },
        /// Children, ascending.
        1 Inner {
            /// The children.
            children: List<Child, 65>,
        },
    }
}

/// A sorted set of names: whose it is, and which of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    owner: Address,
    tag: u8,
}

/// What inserting did to a node.
struct Inserted {
    was_new: bool,
    split: Option<Child>,
}

impl Directory {
    /// The keys of an actor's storage.
    pub const fn storage(actor: Address) -> Self {
        Self { owner: actor, tag: 0 }
    }

    /// The live timers that were not put off, by height and then place; the name ends with the timer's id.
    pub const fn timers() -> Self {
        Self { owner: Address::system(actors::BASEFEE), tag: 1 }
    }

    /// Due timers that were put off, by the height at which they are examined again at the latest and then place; the name ends with the timer's id.
    pub const fn timers_put_off() -> Self {
        Self { owner: Address::system(actors::BASEFEE), tag: 8 }
    }

    /// The ids of an actor's live timers.
    pub const fn timers_of(actor: Address) -> Self {
        Self { owner: actor, tag: 2 }
    }

    /// The places in the queue of what waits for an address.
    pub const fn mailbox(receiver: Address) -> Self {
        Self { owner: receiver, tag: 3 }
    }

    /// Marks of delivered messages, by the height at which they may go.
    pub const fn seen() -> Self {
        Self { owner: Address::ZERO, tag: 4 }
    }

    /// Every actor that was deployed, by address.
    pub const fn actors() -> Self {
        Self { owner: Address::ZERO, tag: 5 }
    }

    /// A system actor's directory: whose it is, and a tag of 32 or more that the actor gives it.
    pub const fn of_system(owner: Address, tag: u8) -> Self {
        Self { owner, tag }
    }

    /// Actors that pay rent, by the epoch of their next collection and then their address.
    pub const fn rents() -> Self {
        Self { owner: Address::system(actors::STORAGE), tag: 5 }
    }

    /// Actors whose storage is being pruned.
    pub const fn evictions() -> Self {
        Self { owner: Address::system(actors::STORAGE), tag: 6 }
    }

    /// Validators, by their addresses.
    pub const fn validators() -> Self {
        Self { owner: Address::system(actors::GOVERNANCE), tag: 7 }
    }

    fn root_key(self) -> Key {
        Key::named(Kind::Directory, self.owner, vec![self.tag])
    }

    fn node_key(self, node: Count) -> Key {
        let mut name = vec![self.tag];
        name.extend_from_slice(&node.0.to_be_bytes());
        Key::named(Kind::Directory, self.owner, name)
    }

    fn node(self, world: &World, node: Count) -> Result<Node, Miss> {
        Ok(world.read(&self.node_key(node))?.expect("a directory's tree has every node that it names"))
    }

    /// How many names there are.
    pub fn count(self, world: &World) -> Result<u64, Miss> {
        Ok(world.read::<Root>(&self.root_key())?.map_or(0, |root| root.count.0))
    }

    /// The record to fetch before the first look, for batched reads.
    pub fn first_key(self) -> Key {
        self.root_key()
    }

    /// Adds a name. Answers whether it was new.
    pub fn insert(self, world: &mut World, name: &[u8]) -> Result<bool, Miss> {
        let name = Name::new(name.to_vec()).expect("names are bounded where they are made");
        let Some(mut root) = world.read::<Root>(&self.root_key())? else {
            let page = Node::Page { names: List::new(vec![name]).expect("one name fits a page") };
            world.write(self.node_key(Count(0)), &page);
            world.write(self.root_key(), &Root { top: Count(0), next: Count(1), count: Count(1) });
            return Ok(true);
        };
        self.require_path(world, root.top, &name)?;
        let top = root.top;
        let inserted = self.insert_below(world, &mut root, top, name)?;
        if let Some(right) = inserted.split {
            let left = Child { first: Name::default(), node: top };
            root.top = root.next;
            root.next = Count(root.next.0.saturating_add(1));
            world.write(self.node_key(root.top), &Node::Inner { children: List::new(vec![left, right]).expect("two children fit a node") });
        }
        if inserted.was_new {
            root.count = Count(root.count.0.saturating_add(1));
            world.write(self.root_key(), &root);
        }
        Ok(inserted.was_new)
    }

    /// Walks down to a name's page, so that nothing is missed once changes begin.
    fn require_path(self, world: &World, top: Count, name: &[u8]) -> Result<(), Miss> {
        let mut node = top;
        loop {
            match self.node(world, node)? {
                Node::Page { .. } => return Ok(()),
                Node::Inner { children } => node = child_of(&children, name).1,
            }
        }
    }

    fn insert_below(self, world: &mut World, root: &mut Root, at: Count, name: Name) -> Result<Inserted, Miss> {
        match self.node(world, at)? {
            Node::Page { names } => {
                let mut names = names.into_vec();
                let Err(place) = names.binary_search(&name) else { return Ok(Inserted { was_new: false, split: None }) };
                names.insert(place, name);
                let split = upper_half(&mut names).map(|upper| {
                    let first = upper.first().expect("half a page has names").clone();
                    self.add_node(world, root, first, &Node::Page { names: List::new(upper).expect("half a page fits") })
                });
                world.write(self.node_key(at), &Node::Page { names: List::new(names).expect("a page fits") });
                Ok(Inserted { was_new: true, split })
            }
            Node::Inner { children } => {
                let mut children = children.into_vec();
                let (place, node) = child_of(&children, &name);
                let below = self.insert_below(world, root, node, name)?;
                let Some(right) = below.split else { return Ok(below) };
                children.insert(place.saturating_add(1), right);
                let split = upper_half(&mut children).map(|upper| {
                    let first = upper.first().expect("half a node has children").first.clone();
                    self.add_node(world, root, first, &Node::Inner { children: List::new(upper).expect("half a node fits") })
                });
                world.write(self.node_key(at), &Node::Inner { children: List::new(children).expect("a node fits") });
                Ok(Inserted { was_new: true, split })
            }
        }
    }

    fn add_node(self, world: &mut World, root: &mut Root, first: Name, node: &Node) -> Child {
        let number = root.next;
        root.next = Count(root.next.0.saturating_add(1));
        world.write(self.node_key(number), node);
        Child { first, node: number }
    }

    /// Removes a name. Answers whether it was there. Empty nodes go; others are never merged.
    pub fn remove(self, world: &mut World, name: &[u8]) -> Result<bool, Miss> {
        let Some(mut root) = world.read::<Root>(&self.root_key())? else { return Ok(false) };
        self.require_path(world, root.top, name)?;
        let Some(is_empty) = self.remove_below(world, root.top, name)? else { return Ok(false) };
        root.count = Count(root.count.0.saturating_sub(1));
        if is_empty {
            world.remove(self.root_key())
        } else {
            world.write(self.root_key(), &root)
        }
        Ok(true)
    }

    /// Removes a name below a node. Answers `None` where it is not there, else whether the node is empty and gone.
    fn remove_below(self, world: &mut World, at: Count, name: &[u8]) -> Result<Option<bool>, Miss> {
        let (is_empty, node) = match self.node(world, at)? {
            Node::Page { names } => {
                let mut names = names.into_vec();
                let Ok(place) = names.binary_search_by(|other| other[..].cmp(name)) else { return Ok(None) };
                names.remove(place);
                (names.is_empty(), Node::Page { names: List::new(names).expect("fewer names fit") })
            }
            Node::Inner { children } => {
                let mut children = children.into_vec();
                let (place, node) = child_of(&children, name);
                match self.remove_below(world, node, name)? {
                    None => return Ok(None),
                    Some(false) => return Ok(Some(false)),
                    Some(true) => children.remove(place),
                };
                (children.is_empty(), Node::Inner { children: List::new(children).expect("fewer children fit") })
            }
        };
        if is_empty {
            world.remove(self.node_key(at))
        } else {
            world.write(self.node_key(at), &node)
        }
        Ok(Some(is_empty))
    }

    /// Up to `limit` names from `from` on, ascending.
    pub fn list(self, world: &World, from: &[u8], limit: usize) -> Result<Vec<Bytes>, Miss> {
        self.names(world, Order::From(from, None), limit)
    }

    /// Up to `limit` names from `from` on that are below `end`, ascending. Pages behind `end` are not read.
    pub fn list_until(self, world: &World, from: &[u8], end: &[u8], limit: usize) -> Result<Vec<Bytes>, Miss> {
        self.names(world, Order::From(from, Some(end)), limit)
    }

    /// The last `limit` names, descending.
    pub fn last(self, world: &World, limit: usize) -> Result<Vec<Bytes>, Miss> {
        self.names(world, Order::Back, limit)
    }

    fn names(self, world: &World, order: Order<'_>, limit: usize) -> Result<Vec<Bytes>, Miss> {
        let mut found = Vec::new();
        if let Some(root) = world.read::<Root>(&self.root_key())? {
            self.list_below(world, root.top, order, limit, &mut found)?;
        }
        Ok(found)
    }

    fn list_below(self, world: &World, at: Count, order: Order<'_>, limit: usize, found: &mut Vec<Bytes>) -> Result<(), Miss> {
        let room = limit.saturating_sub(found.len());
        let children: Vec<Child> = match (self.node(world, at)?, order) {
            (Node::Page { names }, Order::From(from, end)) => {
                let is_in = |name: &&Name| &name[..] >= from && end.is_none_or(|end| &name[..] < end);
                found.extend(names.iter().filter(is_in).take(room).map(|name| name.bytes().clone()));
                return Ok(());
            }
            (Node::Page { names }, Order::Back) => {
                found.extend(names.iter().rev().take(room).map(|name| name.bytes().clone()));
                return Ok(());
            }
            (Node::Inner { children }, Order::From(from, end)) => {
                // Below the first child there may be names before its own.
                let is_in = |(place, child): &(usize, &Child)| *place == 0 || end.is_none_or(|end| &child.first[..] < end);
                let first = child_of(&children, from).0;
                children.iter().enumerate().skip(first).take_while(is_in).map(|(_, child)| child.clone()).collect()
            }
            (Node::Inner { children }, Order::Back) => children.iter().rev().cloned().collect(),
        };
        let mut rest = &children[..];
        while found.len() < limit && !rest.is_empty() {
            // No fewer nodes are needed than the names that are wanted fill, so these are asked for at once.
            let needed = limit.saturating_sub(found.len()).div_ceil(PAGE_NAMES).min(rest.len());
            let (next, later) = rest.split_at(needed);
            let keys: Vec<Key> = next.iter().map(|child| self.node_key(child.node)).collect();
            world.require(&keys)?;
            for child in next {
                self.list_below(world, child.node, order, limit, found)?;
            }
            rest = later;
        }
        Ok(())
    }
}

/// In which order names are listed.
#[derive(Clone, Copy)]
enum Order<'a> {
    /// Ascending, from a name on, and where there is another one only those below it.
    From(&'a [u8], Option<&'a [u8]>),
    /// Descending, from the last on.
    Back,
}

/// The child below which a name belongs: the last whose first name is not greater.
fn child_of(children: &[Child], name: &[u8]) -> (usize, Count) {
    let place = children.partition_point(|child| &child.first[..] <= name).saturating_sub(1);
    (place, children.get(place).expect("an inner node has children").node)
}

/// The entries that move to a new node, where a node has more than fit.
fn upper_half<T>(entries: &mut Vec<T>) -> Option<Vec<T>> {
    (entries.len() > PAGE_NAMES).then(|| entries.split_off(PAGE_NAMES / 2))
}
