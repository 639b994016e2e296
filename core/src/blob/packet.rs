//! Blobs one after the other in a stream of bytes: in a file, over TCP, to another language.
//!
//! A packet is what one buffer held: a time, and one blob for each of its tensors.
//!
//! | offset | type | field | |
//! |---|---|---|---|
//! | 0 | u32 | `magic` | `GTXP` in ASCII |
//! | 4 | u32 | `header_len` | bytes before the first blob: 40 and the indices, padded to a multiple of 8; more in later versions |
//! | 8 | u64 | `packet_len` | bytes of the packet, header included |
//! | 16 | u64 | `pts` | nanoseconds, all ones for none |
//! | 24 | u64 | `duration` | nanoseconds, all ones for none |
//! | 32 | u32 | `tensors` | how many blobs follow, 1 to 16 |
//! | 36 | u32 | `reserved` | 0 |
//! | 40 | u32 each | `indices` | which tensor of the buffer each blob is |
//!
//! Blobs carry their own length and fill the packet exactly. The next packet follows at once.

use arrayvec::ArrayVec;
use thiserror::Error;

use super::{
    BlobError, BlobView,
    cursor::{padding, wide},
};

/// What a packet begins with.
pub const PACKET_MAGIC: u32 = u32::from_le_bytes(*b"GTXP");

/// Bytes of a packet's header without the indices.
pub const PACKET_HEADER_LEN: usize = 40;

/// Tensors in one packet at most: the memories that a GStreamer buffer can have.
pub const MAX_PACKET_TENSORS: usize = 16;

/// Says that there is no time.
const NO_TIME: u64 = u64::MAX;

/// Bytes of the longest header that is read: a later version may append fields.
const MAX_HEADER_LEN: usize = 4096;

/// Why bytes are no packet.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PacketError {
    /// The stream is not one of packets, or a reader lost its place in it.
    #[error("a packet begins with {PACKET_MAGIC:#010x} (GTXP), found {found:#010x}")]
    Magic {
        /// The word found.
        found: u32,
    },
    /// The header is shorter than its fields, longer than any, or ends at no multiple of 8.
    #[error(
        "the packet's header has {header_len} bytes for {tensors} tensors; it takes {need} to {MAX_HEADER_LEN} in steps of 8"
    )]
    HeaderLen {
        /// Bytes it says it has.
        header_len: u32,
        /// Tensors it says it has.
        tensors: u32,
        /// Bytes it must have.
        need: usize,
    },
    /// No tensor, or more than a buffer holds.
    #[error("a packet of {tensors} tensors; 1 to {MAX_PACKET_TENSORS} are possible")]
    Tensors {
        /// How many.
        tensors: u32,
    },
    /// A field that must be zero.
    #[error("the reserved word of a packet is {found:#x}, not 0")]
    Reserved {
        /// The word found.
        found: u32,
    },
    /// The packet is shorter than its header.
    #[error("a packet of {packet_len} bytes, of which the header takes {header_len}")]
    Short {
        /// Bytes of the packet.
        packet_len: u64,
        /// Bytes of the header.
        header_len: usize,
    },
    /// The packet is larger than the reader allows.
    #[error("a packet of {packet_len} bytes; at most {max_len} are taken, see max-size")]
    TooLarge {
        /// Bytes of the packet.
        packet_len: u64,
        /// Bytes allowed.
        max_len: u64,
    },
    /// The bytes end before the packet does.
    #[error("the stream ends {have} bytes into a packet of {need} bytes")]
    Truncated {
        /// Bytes that are there.
        have: usize,
        /// Bytes the packet has.
        need: usize,
    },
    /// A blob is refused.
    #[error("tensor {tensor} of the packet, at byte {at}: {error}")]
    Blob {
        /// Which blob of the packet.
        tensor: usize,
        /// Where in the packet it starts.
        at: usize,
        /// Why.
        error: BlobError,
    },
    /// A blob that refers to memory, which is not in the stream.
    #[error("tensor {tensor} of the packet refers to memory; in a stream its bytes are inline")]
    Reference {
        /// Which blob of the packet.
        tensor: usize,
    },
    /// Bytes after the last blob.
    #[error("{left} bytes are left in the packet after its last tensor")]
    Leftover {
        /// How many.
        left: usize,
    },
}

/// The header of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketHeader {
    /// When it is presented, in nanoseconds.
    pub pts: Option<u64>,
    /// How long it lasts, in nanoseconds.
    pub duration: Option<u64>,
    /// Which tensor of the buffer each blob is.
    pub indices: ArrayVec<u32, MAX_PACKET_TENSORS>,
}

impl PacketHeader {
    /// The bytes before the blobs, whose lengths add up to `blobs_len`.
    ///
    /// ```
    /// use tensor_core::blob::packet::{PacketHeader, PacketLens};
    /// let header = PacketHeader { indices: [0].into_iter().collect(), ..Default::default() };
    /// let bytes = header.to_bytes(1000);
    /// let lens = PacketLens::read(bytes.first_chunk().unwrap(), 4096)?;
    /// assert_eq!((lens.header, lens.packet), (48, 1048));
    /// # Ok::<(), tensor_core::blob::packet::PacketError>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self, blobs_len: usize) -> Vec<u8> {
        let header_len = header_len(self.indices.len());
        let word = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
        let mut out = Vec::with_capacity(header_len);
        out.extend(PACKET_MAGIC.to_le_bytes());
        out.extend(word(header_len));
        out.extend(wide(header_len.saturating_add(blobs_len)).to_le_bytes());
        out.extend(self.pts.unwrap_or(NO_TIME).to_le_bytes());
        out.extend(self.duration.unwrap_or(NO_TIME).to_le_bytes());
        out.extend(word(self.indices.len()));
        out.extend([0; 4]);
        self.indices.iter().for_each(|index| out.extend(index.to_le_bytes()));
        out.resize(header_len, 0);
        out
    }
}

/// How long a packet is: what a reader must know before it waits for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLens {
    /// Bytes before the first blob.
    pub header: usize,
    /// Bytes in all.
    pub packet: usize,
}

impl PacketLens {
    /// Reads the start of a packet of at most `max_len` bytes.
    ///
    /// # Errors
    /// See [`PacketError`].
    pub fn read(start: &[u8; PACKET_HEADER_LEN], max_len: u64) -> Result<Self, PacketError> {
        let [magic, header_len, tensors, reserved] = [0, 4, 32, 36].map(|at| word(start, at));
        if magic != PACKET_MAGIC {
            return Err(PacketError::Magic { found: magic });
        }
        let count = usize::try_from(tensors).unwrap_or(usize::MAX);
        if !(1..=MAX_PACKET_TENSORS).contains(&count) {
            return Err(PacketError::Tensors { tensors });
        }
        if reserved != 0 {
            return Err(PacketError::Reserved { found: reserved });
        }
        let need = self::header_len(count);
        let header = usize::try_from(header_len).unwrap_or(usize::MAX);
        if !(need..=MAX_HEADER_LEN).contains(&header) || !header.is_multiple_of(8) {
            return Err(PacketError::HeaderLen { header_len, tensors, need });
        }
        let packet_len = long(start, 8);
        if packet_len > max_len {
            return Err(PacketError::TooLarge { packet_len, max_len });
        }
        if packet_len < wide(header) {
            return Err(PacketError::Short { packet_len, header_len: header });
        }
        let packet = usize::try_from(packet_len);
        let packet = packet.map_err(|_| PacketError::TooLarge { packet_len, max_len })?;
        Ok(Self { header, packet })
    }
}

/// A packet whose every blob is checked.
#[derive(Clone, Debug)]
pub struct Packet<'a> {
    /// When it is, and which tensors it has.
    pub header: PacketHeader,
    /// A blob for each index.
    pub blobs: ArrayVec<BlobView<'a>, MAX_PACKET_TENSORS>,
}

impl<'a> Packet<'a> {
    /// Reads the packet at the front of `bytes`, of at most `max_len` bytes.
    ///
    /// # Errors
    /// See [`PacketError`].
    pub fn parse(bytes: &'a [u8], max_len: u64) -> Result<Self, PacketError> {
        let short = |need| PacketError::Truncated { have: bytes.len(), need };
        let start = bytes.first_chunk().ok_or_else(|| short(PACKET_HEADER_LEN))?;
        let lens = PacketLens::read(start, max_len)?;
        let packet = bytes.get(..lens.packet).ok_or_else(|| short(lens.packet))?;
        let time = |at| Some(long(start, at)).filter(|time| *time != NO_TIME);
        let mut header = PacketHeader { pts: time(16), duration: time(24), ..Default::default() };
        let (head, mut rest) = packet.split_at_checked(lens.header).unwrap_or((packet, &[]));
        let (words, _) = head.get(PACKET_HEADER_LEN..).unwrap_or_default().as_chunks::<4>();
        let tensors = usize::try_from(word(start, 32)).unwrap_or(usize::MAX);
        let mut blobs = ArrayVec::new();
        for (tensor, index) in words.iter().take(tensors).enumerate() {
            let at = lens.packet.saturating_sub(rest.len());
            let view = BlobView::parse(rest);
            let view = view.map_err(|error| PacketError::Blob { tensor, at, error })?;
            if !view.is_inline() || view.planes().len() == 0 {
                return Err(PacketError::Reference { tensor });
            }
            rest = rest.get(view.as_bytes().len()..).unwrap_or_default();
            header.indices.push(u32::from_le_bytes(*index));
            blobs.push(view);
        }
        match rest.len() {
            0 => Ok(Self { header, blobs }),
            left => Err(PacketError::Leftover { left }),
        }
    }
}

fn header_len(tensors: usize) -> usize {
    let len = tensors.saturating_mul(4).saturating_add(PACKET_HEADER_LEN);
    len.saturating_add(padding(len))
}

fn word(start: &[u8; PACKET_HEADER_LEN], at: usize) -> u32 {
    let bytes = start.get(at..).and_then(|rest| rest.first_chunk());
    bytes.copied().map_or(0, u32::from_le_bytes)
}

fn long(start: &[u8; PACKET_HEADER_LEN], at: usize) -> u64 {
    let bytes = start.get(at..).and_then(|rest| rest.first_chunk());
    bytes.copied().map_or(0, u64::from_le_bytes)
}
