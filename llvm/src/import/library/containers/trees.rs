//! The red-black trees of `std::map` and `std::set` (Cormen et al., "Introduction to Algorithms", 13), as libstdc++ lays out their nodes.

use super::{P, POINTER, WORD, link};
use crate::import::library::maker::Maker;
use crate::import::library::{Build, Row};
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Type, Value, Variable};

const fn step(name: &'static str, build: Build) -> Row {
    Row { name, params: &[P], gives: POINTER, build }
}

pub(in crate::import::library) const ROWS: &[Row] = &[
    link("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", &[Type::I1, P, P, P], insert),
    Row {
        name: "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_",
        params: &[P, P],
        gives: POINTER,
        build: erase,
    },
    step("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", |m| neighbour(m, RIGHT)),
    step("_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", |m| neighbour(m, RIGHT)),
    step("_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", |m| neighbour(m, LEFT)),
    step("_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base", |m| neighbour(m, LEFT)),
];

// One of a tree: its colour, the node above it, those below it. The header is above the root, and the root above it; its others are the first and last.
const COLOUR: i32 = 0;
const PARENT: i32 = 8;
const LEFT: i64 = 16;
const RIGHT: i64 = 24;
const RED: i64 = 0;
const BLACK: i64 = 1;

impl Maker<'_, '_> {
    /// The node below on a side, which is given as an offset.
    fn below(&mut self, node: Value, side: Value) -> Value {
        let at = self.b.ins().ptradd(node, side);
        self.field(at, 0)
    }

    fn put_below(&mut self, node: Value, side: Value, value: Value) {
        let at = self.b.ins().ptradd(node, side);
        self.put(at, 0, value);
    }

    fn other_side(&mut self, side: Value) -> Value {
        let both = self.int(WORD, LEFT + RIGHT);
        self.b.ins().isub(both, side)
    }

    fn no_node(&mut self) -> Value {
        let zero = self.int(WORD, 0);
        self.b.ins().inttoptr(P, zero)
    }

    /// The colour of a node that exists.
    fn is_red(&mut self, node: Value) -> Value {
        let colour = self.b.ins().load(Type::I32, MemFlags::PLAIN, node, COLOUR);
        self.is_imm(IntCC::Eq, colour, RED)
    }

    /// True for a red node; what does not exist is black.
    fn is_red_node(&mut self, node: Value) -> Value {
        let no = self.int(Type::I1, 0);
        let red = self.var(no);
        let null = self.is_null(node);
        let exists = self.b.ins().bnot(null);
        self.if_(exists, |m| {
            let is = m.is_red(node);
            m.set(red, is);
        });
        self.get(red)
    }

    fn paint(&mut self, node: Value, colour: i64) {
        let colour = self.int(Type::I32, colour);
        self.b.ins().store(MemFlags::PLAIN, colour, node, COLOUR);
    }

    /// The side of its parent that a node, or none, is on.
    fn side_of(&mut self, node: Value, parent: Value) -> Value {
        let left = self.field(parent, LEFT as i32);
        let is_left = self.same(node, left);
        let (of_left, of_right) = (self.int(WORD, LEFT), self.int(WORD, RIGHT));
        self.choose(is_left, of_left, of_right)
    }

    /// Turns a black node down to a side, where it becomes red, and the red one that takes its place black.
    fn exchange(&mut self, black: Value, red: Value, side: Value, header: Value) {
        self.paint(red, BLACK);
        self.paint(black, RED);
        self.rotate(black, side, header);
    }

    /// Puts a node, or none, where another one was: below its parent, or as the root.
    fn replace(&mut self, old: Value, new: Value, header: Value) {
        let (root, parent) = (self.field(header, PARENT), self.field(old, PARENT));
        let is_root = self.same(root, old);
        let side = self.side_of(old, parent);
        let of_root = self.int(WORD, i64::from(PARENT));
        let (node, side) = (self.choose(is_root, header, parent), self.choose(is_root, of_root, side));
        self.put_below(node, side, new);
    }

    /// Turns a node down to a side: what is below it on the other takes its place.
    fn rotate(&mut self, node: Value, side: Value, header: Value) {
        let other = self.other_side(side);
        let up = self.below(node, other);
        let moved = self.below(up, side);
        self.put_below(node, other, moved);
        let null = self.is_null(moved);
        let exists = self.b.ins().bnot(null);
        self.if_(exists, |m| m.put(moved, PARENT, node));
        let parent = self.field(node, PARENT);
        self.put(up, PARENT, parent);
        self.replace(node, up, header);
        self.put_below(up, side, node);
        self.put(node, PARENT, up);
    }

    /// The last node on a side.
    fn outermost(&mut self, node: Value, side: i64) -> Value {
        let at = self.var(node);
        self.while_(
            |m| {
                let node = m.get(at);
                let next = m.field(node, side as i32);
                let null = m.is_null(next);
                m.b.ins().bnot(null)
            },
            |m| {
                let node = m.get(at);
                let next = m.field(node, side as i32);
                m.set(at, next);
            },
        );
        self.get(at)
    }
}

/// The next node in order on a side: the innermost one below on that side, or else the first above that it is not on that side of.
fn neighbour(m: &mut Maker<'_, '_>, side: i64) {
    let back = LEFT + RIGHT - side;
    let node = m.param(0);
    let at = m.var(node);
    if side == LEFT {
        // The header is red and above what is above it; the last node is its right one.
        let red = m.is_red(node);
        let parent = m.field(node, PARENT);
        let above = m.field(parent, PARENT);
        let round = m.same(above, node);
        let is_header = m.and(red, round);
        let last = m.field(node, RIGHT as i32);
        let (end, go_on) = (m.b.create_block(), m.b.create_block());
        m.b.ins().brif(is_header, end, &[], go_on, &[]);
        m.b.enter_block(end);
        m.ret(&[last]);
        m.b.enter_block(go_on);
    }
    let below = m.field(node, side as i32);
    let null = m.is_null(below);
    m.either(
        null,
        |m| {
            let parent = m.field(node, PARENT);
            let above = m.var(parent);
            m.while_(
                |m| {
                    let (node, above) = (m.get(at), m.get(above));
                    let below = m.field(above, side as i32);
                    m.same(node, below)
                },
                |m| {
                    let node = m.get(above);
                    m.set(at, node);
                    let parent = m.field(node, PARENT);
                    m.set(above, parent);
                },
            );
            // From the last node on it goes to the header, which the root may be beside.
            let (node, above) = (m.get(at), m.get(above));
            let beyond = m.field(node, side as i32);
            let ends = if side == RIGHT { m.same(beyond, above) } else { m.int(Type::I1, 0) };
            let next = m.choose(ends, node, above);
            m.set(at, next);
        },
        |m| {
            let inner = m.outermost(below, back);
            m.set(at, inner);
        },
    );
    let next = m.get(at);
    m.ret(&[next]);
}

fn insert(m: &mut Maker<'_, '_>) {
    let (is_left, new, parent, header) = (m.param(0), m.param(1), m.param(2), m.param(3));
    let null = m.no_node();
    m.put(new, PARENT, parent);
    m.put(new, LEFT as i32, null);
    m.put(new, RIGHT as i32, null);
    m.paint(new, RED);
    let (first, last) = (m.field(header, LEFT as i32), m.field(header, RIGHT as i32));
    m.either(
        is_left,
        |m| {
            // Of the header, too, whose left one is the first node.
            m.put(parent, LEFT as i32, new);
            let empty = m.same(parent, header);
            m.either(
                empty,
                |m| {
                    m.put(header, PARENT, new);
                    m.put(header, RIGHT as i32, new);
                },
                |m| {
                    let is_first = m.same(parent, first);
                    m.if_(is_first, |m| m.put(header, LEFT as i32, new));
                },
            );
        },
        |m| {
            m.put(parent, RIGHT as i32, new);
            let is_last = m.same(parent, last);
            m.if_(is_last, |m| m.put(header, RIGHT as i32, new));
        },
    );
    let at = m.var(new);
    m.while_(
        |m| {
            let (node, root) = (m.get(at), m.field(header, PARENT));
            let parent = m.field(node, PARENT);
            let is_root = m.same(node, root);
            let below = m.b.ins().bnot(is_root);
            let red = m.is_red(parent);
            m.and(below, red)
        },
        |m| {
            let node = m.get(at);
            let parent = m.field(node, PARENT);
            let above = m.field(parent, PARENT);
            let side = m.side_of(parent, above);
            let other = m.other_side(side);
            let uncle = m.below(above, other);
            let red = m.is_red_node(uncle);
            m.either(
                red,
                |m| {
                    m.paint(parent, BLACK);
                    m.paint(uncle, BLACK);
                    m.paint(above, RED);
                    m.set(at, above);
                },
                |m| {
                    let inner = m.below(parent, other);
                    let is_inner = m.same(inner, node);
                    m.if_(is_inner, |m| {
                        m.set(at, parent);
                        m.rotate(parent, side, header);
                    });
                    let node = m.get(at);
                    let parent = m.field(node, PARENT);
                    m.exchange(above, parent, other, header);
                },
            );
        },
    );
    let root = m.field(header, PARENT);
    m.paint(root, BLACK);
    m.ret(&[]);
}

/// Takes a node out of a tree, and gives it.
fn erase(m: &mut Maker<'_, '_>) {
    let (gone, header) = (m.param(0), m.param(1));
    let (left, right) = (m.field(gone, LEFT as i32), m.field(gone, RIGHT as i32));
    let (no_left, no_right) = (m.is_null(left), m.is_null(right));
    let one = m.or(no_left, no_right);
    let only = m.choose(no_left, right, left);
    // What takes the place of the lowest node that changes, the node above it, and the colour that the tree loses.
    let (moved, above) = (m.var(only), m.var(gone));
    let colour = m.b.ins().load(Type::I32, MemFlags::PLAIN, gone, COLOUR);
    let lost = m.var(colour);
    m.either(
        one,
        |m| {
            let parent = m.field(gone, PARENT);
            m.set(above, parent);
            let none = m.is_null(only);
            let exists = m.b.ins().bnot(none);
            m.if_(exists, |m| m.put(only, PARENT, parent));
            let (first, last) = (m.field(header, LEFT as i32), m.field(header, RIGHT as i32));
            m.replace(gone, only, header);
            for (end, missing, side) in [(first, no_right, LEFT), (last, no_left, RIGHT)] {
                let is_end = m.same(end, gone);
                m.if_(is_end, |m| {
                    m.either(
                        missing,
                        |m| m.put(header, side as i32, parent),
                        |m| {
                            let end = m.outermost(only, side);
                            m.put(header, side as i32, end);
                        },
                    );
                });
            }
        },
        |m| {
            // The next node in order takes its place and its colour.
            let next = m.outermost(right, LEFT);
            let below = m.field(next, RIGHT as i32);
            m.set(moved, below);
            m.set(above, next);
            m.put(left, PARENT, next);
            m.put(next, LEFT as i32, left);
            let is_right = m.same(next, right);
            let deeper = m.b.ins().bnot(is_right);
            m.if_(deeper, |m| {
                let parent = m.field(next, PARENT);
                m.set(above, parent);
                let none = m.is_null(below);
                let exists = m.b.ins().bnot(none);
                m.if_(exists, |m| m.put(below, PARENT, parent));
                m.put(parent, LEFT as i32, below);
                m.put(next, RIGHT as i32, right);
                m.put(right, PARENT, next);
            });
            m.replace(gone, next, header);
            let parent = m.field(gone, PARENT);
            m.put(next, PARENT, parent);
            let of_next = m.b.ins().load(Type::I32, MemFlags::PLAIN, next, COLOUR);
            m.b.ins().store(MemFlags::PLAIN, colour, next, COLOUR);
            m.set(lost, of_next);
        },
    );
    let lost = m.get(lost);
    let black = m.is_imm(IntCC::Eq, lost, BLACK);
    m.if_(black, |m| m.lighten(moved, above, header));
    m.ret(&[gone]);
}

impl Maker<'_, '_> {
    /// Makes all paths have as many black nodes again, where those through a node, which may be none, lack one.
    fn lighten(&mut self, at: Variable, above: Variable, header: Value) {
        let no = self.int(Type::I1, 0);
        let done = self.var(no);
        self.while_(
            |m| {
                let (node, root, done) = (m.get(at), m.field(header, PARENT), m.get(done));
                let is_root = m.same(node, root);
                let red = m.is_red_node(node);
                let ends = m.or(is_root, red);
                let ends = m.or(ends, done);
                m.b.ins().bnot(ends)
            },
            |m| {
                let (node, parent) = (m.get(at), m.get(above));
                let side = m.side_of(node, parent);
                let other = m.other_side(side);
                let first = m.below(parent, other);
                let sibling = m.var(first);
                let red = m.is_red(first);
                m.if_(red, |m| {
                    m.exchange(parent, first, side, header);
                    let next = m.below(parent, other);
                    m.set(sibling, next);
                });
                let brother = m.get(sibling);
                let (inner, outer) = (m.below(brother, side), m.below(brother, other));
                let (inner_red, outer_red) = (m.is_red_node(inner), m.is_red_node(outer));
                let any = m.or(inner_red, outer_red);
                m.either(
                    any,
                    |m| {
                        let black = m.b.ins().bnot(outer_red);
                        m.if_(black, |m| {
                            m.exchange(brother, inner, other, header);
                            let next = m.below(parent, other);
                            m.set(sibling, next);
                        });
                        let brother = m.get(sibling);
                        let colour = m.b.ins().load(Type::I32, MemFlags::PLAIN, parent, COLOUR);
                        m.b.ins().store(MemFlags::PLAIN, colour, brother, COLOUR);
                        m.paint(parent, BLACK);
                        let outer = m.below(brother, other);
                        let none = m.is_null(outer);
                        let exists = m.b.ins().bnot(none);
                        m.if_(exists, |m| m.paint(outer, BLACK));
                        m.rotate(parent, side, header);
                        let yes = m.int(Type::I1, 1);
                        m.set(done, yes);
                    },
                    |m| {
                        m.paint(brother, RED);
                        m.set(at, parent);
                        let next = m.field(parent, PARENT);
                        m.set(above, next);
                    },
                );
            },
        );
        // Where it was mended by turning, the node is black already.
        let (node, done) = (self.get(at), self.get(done));
        let none = self.is_null(node);
        let skip = self.or(none, done);
        let paint = self.b.ins().bnot(skip);
        self.if_(paint, |m| m.paint(node, BLACK));
    }
}
