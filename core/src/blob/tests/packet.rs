//! Packets of blobs, and bytes that are none.

use super::*;
use crate::blob::packet::*;

/// A packet of two small inline tensors.
fn two() -> Vec<u8> {
    let blob = inline_blob();
    let header =
        PacketHeader { pts: Some(40), duration: None, indices: [0, 3].into_iter().collect() };
    let mut bytes = header.to_bytes(2 * blob.len());
    bytes.extend(&blob);
    bytes.extend(&blob);
    bytes
}

fn inline_blob() -> Vec<u8> {
    plain(&[2, 6], &[PlaneRecord::inline(&[7; 12], 12)]).to_bytes().unwrap()
}

fn error(bytes: &[u8]) -> PacketError {
    Packet::parse(bytes, 4096).unwrap_err()
}

fn with(at: usize, word: u32) -> Vec<u8> {
    let mut bytes = two();
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    bytes
}

#[test]
fn a_packet_comes_back() {
    let bytes = two();
    let packet = Packet::parse(&bytes, 4096).unwrap();
    assert_eq!((packet.header.pts, packet.header.duration), (Some(40), None));
    assert_eq!(packet.header.indices[..], [0, 3]);
    assert!(packet.blobs.iter().all(|blob| blob.plane(0).unwrap().data == [7; 12]));
    // What follows is the next packet's.
    let stream = [bytes.clone(), bytes.clone()].concat();
    assert_eq!(Packet::parse(&stream, 4096).unwrap().header, packet.header);
}

#[test]
fn each_refusal_names_its_numbers() {
    let bytes = two();
    let len = u64::try_from(bytes.len()).unwrap();
    assert_eq!(error(&with(0, 7)), PacketError::Magic { found: 7 });
    assert_eq!(error(&with(32, 0)), PacketError::Tensors { tensors: 0 });
    assert_eq!(error(&with(32, 17)), PacketError::Tensors { tensors: 17 });
    assert_eq!(error(&with(36, 1)), PacketError::Reserved { found: 1 });
    for header_len in [40, 52, 1 << 30] {
        let refused = PacketError::HeaderLen { header_len, tensors: 2, need: 48 };
        assert_eq!(error(&with(4, header_len)), refused);
    }
    assert_eq!(error(&with(8, 44)), PacketError::Short { packet_len: 44, header_len: 48 });
    let huge = PacketError::TooLarge { packet_len: len | 1 << 32, max_len: 4096 };
    assert_eq!(error(&with(12, 1)), huge);
    assert!(huge.to_string().contains("max-size"));
    let refused = error(&with(48 + 16, u32::MAX));
    assert!(matches!(refused, PacketError::Blob { tensor: 0, at: 48, .. }), "{refused}");
    let one = Packet::parse(&with(32, 1), 4096).unwrap_err();
    assert!(matches!(one, PacketError::Leftover { .. }), "{one}");
}

#[test]
fn a_packet_cut_short_says_what_it_needs() {
    let bytes = two();
    for have in 0..bytes.len() {
        let need = if have < 40 { 40 } else { bytes.len() };
        assert_eq!(error(&bytes[..have]), PacketError::Truncated { have, need });
    }
}

#[test]
fn a_blob_that_refers_to_memory_is_no_part_of_a_stream() {
    let blob = plain(&[2, 6], &[referenced(0, 0, 12)]).to_bytes().unwrap();
    let header = PacketHeader { indices: [0].into_iter().collect(), ..Default::default() };
    let mut bytes = header.to_bytes(blob.len());
    bytes.extend(&blob);
    assert_eq!(error(&bytes), PacketError::Reference { tensor: 0 });
}

#[test]
fn changed_bytes_are_refused_or_read_but_never_harm() {
    let bytes = two();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            if let Ok(packet) = Packet::parse(&changed, 4096) {
                assert!(packet.blobs.len() == packet.header.indices.len());
            }
        }
    }
}
