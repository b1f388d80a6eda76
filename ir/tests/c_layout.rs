//! C's layout of structs and unions against what a C compiler says of random ones (`c_layout.py` wrote the table), and bit fields in memory
//! against the bits that they denote.

use arbitrary::Unstructured;
use warpsmith_ir::c_layout::{Member, Record};
use warpsmith_ir::{
    FuncKind, Function, FunctionBuilder, InstBuilder, MemFlags, Module, Param, Type, TypeTable, verify,
};

fn member(text: &str) -> Member {
    let (ty, width) = text.split_once(':').map_or((text, None), |(ty, width)| (ty, Some(width)));
    let ty = Type::from_name(ty).unwrap_or_else(|| panic!("{text}"));
    width.map_or(Member::field(ty), |width| Member::bits(ty, width.parse().unwrap(), true))
}

#[test]
fn records_lie_as_a_c_compiler_lays_them() {
    let rows: Vec<&str> = include_str!("c_layout.tsv").lines().collect();
    assert!(rows.len() > 300);
    let mut types = TypeTable::default();
    for row in rows {
        let [kind, members, size, align, bits] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let members: Vec<Member> = members.split(' ').map(member).collect();
        let record = match kind {
            "union" => Record::union(&mut types, &members),
            kind => Record::structure(&mut types, &members, kind == "packed"),
        };
        let record = record.unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!((record.size.to_string(), record.align.to_string()), (size.into(), align.into()), "{row}");
        assert_eq!((types.size(record.ty), types.align(record.ty)), (record.size, record.align), "{row}");
        for (place, bit) in record.members.iter().zip(bits.split(' ')) {
            if bit == "-" {
                continue;
            }
            assert_eq!(place.first_bit.to_string(), bit, "{row}");
            let Some(bits) = place.bits else { continue };
            assert_eq!(bits.offset * 8 + u64::from(bits.low), place.first_bit, "{row}");
            assert!(bits.low + bits.width <= bits.unit.bits(), "{row}: {bits:?}");
            let end = bits.offset + u64::from(bits.unit.bytes().unwrap());
            assert!(end <= record.size || kind == "union", "{row}: {bits:?} is beyond the record");
        }
    }
}

#[test]
fn what_c_does_not_allow_is_an_error() {
    let types = &mut TypeTable::default();
    let huge = types.array(Type::I64, 1 << 58);
    for (members, expected) in [
        (vec![Member::bits(Type::I32, 33, false)], "member 0: 33 bits do not fit i32"),
        (vec![Member::field(Type::I8), Member::bits(Type::F32, 3, false)], "member 1: a bit field is of"),
        (vec![Member::field(Type::E2M1)], "member 0: e2m1 has no memory form"),
        (vec![Member::field(huge)], "is larger than any memory"),
    ] {
        for record in [Record::structure(types, &members, false), Record::union(types, &members)] {
            let error = record.expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
    let large = types.array(Type::I64, 1 << 55);
    let error = Record::structure(types, &[Member::field(large); 9], false).expect_err("too large");
    assert!(error.to_string().contains("larger than any memory"), "{error}");
}

/// Whatever the members are, the code that accesses them is legal.
#[test]
fn members_are_accessed_by_legal_code() {
    arbtest::arbtest(|u: &mut Unstructured<'_>| {
        let mut module = Module::new();
        let count = u.int_in_range(1..=8)?;
        let mut members = Vec::new();
        for _ in 0..count {
            let ty = *u.choose(&[Type::I8, Type::I16, Type::I32, Type::I64])?;
            let width = u.int_in_range(0..=ty.bits())?;
            members.push(if u.arbitrary()? {
                Member::field(ty)
            } else {
                Member::bits(ty, width, u.arbitrary()?)
            });
        }
        let record = Record::structure(&mut module.types, &members, u.arbitrary()?).unwrap();
        let params = vec![Param::new(Type::PTR), Param::new(Type::PTR)];
        let id = module.add_function(Function::new("copy", FuncKind::Func, params, vec![]));
        let mut b = FunctionBuilder::new(&mut module, id);
        let entry = b.entry_block();
        let (to, from) = (b.block_params(entry)[0], b.block_params(entry)[1]);
        for member in &record.members {
            let value = b.load_member(MemFlags::PLAIN, from, member);
            b.store_member(MemFlags::PLAIN, value, to, member);
        }
        b.ins().ret(&[]);
        b.finalize().unwrap();
        verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
        Ok(())
    });
}
