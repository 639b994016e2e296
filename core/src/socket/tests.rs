//! Frames between two ends of a socket pair, well behaved and not.

use std::{
    fs,
    io::Write,
    os::{fd::AsFd, unix::net::UnixStream},
    thread,
    time::Duration,
};

use super::*;
use crate::{
    format::PixelFormat,
    memory::Memory,
    memory_kind::TensorMemory,
    sys::scm_rights,
    tensor::{ImageDesc, TensorDyn},
};

fn pair() -> (UnixStream, Receiver<UnixStream>) {
    let (here, there) = UnixStream::pair().unwrap();
    there.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    (here, Receiver::new(there))
}

fn open_fds() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn head(len: u32, fds: u32) -> Vec<u8> {
    [len.to_le_bytes(), fds.to_le_bytes()].concat()
}

#[test]
fn frames_come_whole_and_in_order() {
    let (here, mut there) = pair();
    let memory = Memory::shm(4096).unwrap();
    let fd = memory.fd().unwrap();
    let before = open_fds();
    send(&here, b"one", &[fd]).unwrap();
    send(&here, b"", &[]).unwrap();
    send(&here, b"three", &[fd, fd, fd]).unwrap();
    drop(here);
    for (blob, fds) in [(&b"one"[..], 1), (b"", 0), (b"three", 3)] {
        let message = there.receive().unwrap().unwrap();
        assert_eq!((message.blob, message.fds.len()), (blob, fds));
    }
    assert!(there.receive().unwrap().is_none());
    assert!(there.receive().unwrap().is_none());
    assert_eq!(open_fds(), before - 1);
}

#[test]
fn what_comes_is_closed_on_exec() {
    let (here, mut there) = pair();
    let memory = Memory::shm(4096).unwrap();
    send(&here, b"x", &[memory.fd().unwrap()]).unwrap();
    let message = there.receive().unwrap().unwrap();
    let flags = rustix::io::fcntl_getfd(&message.fds[0]).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
}

#[test]
fn a_frame_longer_than_the_socket_holds_comes_in_pieces() {
    let (here, mut there) = pair();
    let blob: Vec<u8> = (0..5_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let sent = blob.clone();
    let memory = Memory::shm(4096).unwrap();
    let sender = thread::spawn(move || send(&here, &sent, &[memory.fd().unwrap()]));
    let message = loop {
        match there.receive() {
            Err(ReceiveError::TimedOut { .. }) => {}
            other => break other.unwrap().unwrap(),
        }
    };
    assert!(message.blob == blob && message.fds.len() == 1);
    sender.join().unwrap().unwrap();
}

#[test]
fn a_time_out_in_a_frame_loses_nothing() {
    let (here, mut there) = pair();
    let memory = Memory::shm(4096).unwrap();
    let fd = memory.fd().unwrap();
    let mut frame = head(6, 1);
    frame.extend_from_slice(b"pieces");
    let expect_time_out = |there: &mut Receiver<UnixStream>, come: usize| {
        let error = there.receive().unwrap_err();
        assert!(matches!(error, ReceiveError::TimedOut { have } if have == come), "{error}");
    };
    expect_time_out(&mut there, 0);
    for (at, byte) in frame.iter().enumerate() {
        let fds = if at == 0 { &[fd][..] } else { &[] };
        scm_rights::send(here.as_fd(), &[std::io::IoSlice::new(&[*byte])], fds).unwrap();
        if at + 1 < frame.len() {
            expect_time_out(&mut there, at + 1);
        }
    }
    let message = there.receive().unwrap().unwrap();
    assert_eq!((message.blob, message.fds.len()), (&b"pieces"[..], 1));
}

#[test]
fn the_peer_may_die_between_frames_and_within_one() {
    let (mut here, mut there) = pair();
    here.write_all(&head(100, 0)).unwrap();
    here.write_all(&[0; 10]).unwrap();
    drop(here);
    let error = there.receive().unwrap_err();
    assert!(matches!(error, ReceiveError::Closed { have: 18, need: 108 }), "{error}");
    let (here, there) = pair();
    drop(there);
    assert!(matches!(send(&here, b"x", &[]), Err(SendError::Closed)));
}

#[test]
fn what_was_not_announced_is_closed_and_the_next_frame_comes() {
    let (here, mut there) = pair();
    let memory = Memory::shm(4096).unwrap();
    let fd = memory.fd().unwrap();
    let before = open_fds();
    for (announced, given) in [(0, 2), (3, 0), (1, 253)] {
        let mut frame = head(2, announced);
        frame.extend_from_slice(b"ab");
        let fds = vec![fd; given];
        scm_rights::send(here.as_fd(), &[std::io::IoSlice::new(&frame)], &fds).unwrap();
        send(&here, b"next", &[fd]).unwrap();
        let error = there.receive().unwrap_err();
        let ReceiveError::Fds { announced: said, came } = error else { panic!("{error}") };
        assert_eq!((said, came), (announced as usize, given));
        assert_eq!(there.receive().unwrap().unwrap().blob, b"next");
    }
    drop((here, there));
    assert_eq!(open_fds(), before - 2);
}

#[test]
fn descriptors_that_come_late_are_not_kept() {
    let (here, mut there) = pair();
    let memory = Memory::shm(4096).unwrap();
    let fd = memory.fd().unwrap();
    let mut frame = head(2, 0);
    frame.push(b'a');
    let slice = |bytes: &'static [u8]| std::io::IoSlice::new(bytes);
    scm_rights::send(here.as_fd(), &[std::io::IoSlice::new(&frame)], &[]).unwrap();
    scm_rights::send(here.as_fd(), &[slice(b"b")], &[fd, fd]).unwrap();
    assert!(matches!(there.receive(), Err(ReceiveError::Fds { announced: 0, came: 2 })));
    send(&here, b"next", &[]).unwrap();
    assert_eq!(there.receive().unwrap().unwrap().blob, b"next");
}

#[test]
fn a_lie_about_the_length_takes_no_memory() {
    let (mut here, there) = pair();
    let mut there = there.with_limit(1 << 20);
    here.write_all(&head(u32::MAX, 0)).unwrap();
    let error = there.receive().unwrap_err();
    assert!(matches!(error, ReceiveError::TooLong { len: 0xffff_ffff, limit: 0x10_0000 }));
    let (mut here, mut there) = pair();
    here.write_all(&head(60 << 20, 0)).unwrap();
    assert!(matches!(there.receive(), Err(ReceiveError::TimedOut { have: 8 })));
    assert!(there.frame.capacity() <= 2 * CHUNK_AT_MOST);
}

const CHUNK_AT_MOST: usize = (1 << 20) + HEAD_LEN;

#[test]
fn more_descriptors_than_the_kernel_passes_are_refused_before_anything_is_sent() {
    let (here, mut there) = pair();
    let memory = Memory::shm(4096).unwrap();
    let fd = memory.fd().unwrap();
    let fds = vec![fd; 254];
    assert!(matches!(send(&here, b"x", &fds), Err(SendError::TooManyFds { fds: 254 })));
    send(&here, b"x", &fds[..253]).unwrap();
    assert_eq!(there.receive().unwrap().unwrap().fds.len(), 253);
}

#[test]
fn a_slow_reader_is_a_time_out() {
    let (here, there) = UnixStream::pair().unwrap();
    here.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
    let blob = vec![0; 4 << 20];
    let error = send(&here, &blob, &[]).unwrap_err();
    assert!(matches!(error, SendError::Incomplete { sent, len } if sent < len), "{error}");
    assert!(matches!(send(&here, &blob, &[]), Err(SendError::TimedOut)));
    drop(there);
}

#[test]
fn a_socket_of_messages_is_told_apart() {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let (here, there) = socketpair(family, kind, SocketFlags::CLOEXEC, None).unwrap();
    send(&here, b"longer than a head", &[]).unwrap();
    assert!(matches!(Receiver::new(there).receive(), Err(ReceiveError::NotAStream)));
}

#[test]
fn tensors_arrive_and_what_is_none_is_refused() {
    let (here, mut there) = pair();
    let desc = ImageDesc::new(PixelFormat::Nv12, 64, 36).with_memory(TensorMemory::Shm);
    let tensor = TensorDyn::image_desc(&desc).unwrap();
    let before = open_fds();
    send(&here, b"no blob", &[tensor.memories()[0].fd().unwrap()]).unwrap();
    send_tensor(&here, &tensor).unwrap();
    assert!(matches!(there.receive_tensor(), Err(ReceiveError::Import(_))));
    let same = there.receive_tensor().unwrap().unwrap();
    tensor.map_write().unwrap().plane_mut(1).unwrap()[5] = 77;
    assert_eq!(same.map_read().unwrap().plane(1).unwrap().row(0).unwrap()[5], 77);
    drop(same);
    // The receiver still holds the last frame's descriptor.
    assert_eq!(open_fds(), before + 1);
}
