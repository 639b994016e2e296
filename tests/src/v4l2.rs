//! A multi-planar camera spoken to by hand (`linux/videodev2.h`): one frame, for the formats that
//! GStreamer 1.22's own source drops, and one buffer given, for the driver's own answer to it.

use std::{
    fs::{File, OpenOptions},
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use rustix::ioctl::{Opcode, Setter, Updater, ioctl, opcode};

/// `V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE`.
const CAPTURE_MPLANE: u32 = 9;
/// `V4L2_MEMORY_MMAP`.
const MEMORY_MMAP: u32 = 1;
/// `V4L2_MEMORY_DMABUF`.
const MEMORY_DMABUF: u32 = 4;
/// `O_RDWR | O_CLOEXEC`, for the exported descriptor.
const EXPORT_FLAGS: u32 = 0o2_000_002;

/// `struct v4l2_format` with `struct v4l2_pix_format_mplane` in its union.
#[repr(C)]
struct Format {
    kind: u32,
    _union_alignment: u32,
    width: u32,
    height: u32,
    pixelformat: u32,
    field: u32,
    colorspace: u32,
    planes: [[u32; 5]; 8],
    num_planes: u8,
    rest: [u8; 19],
}

/// `struct v4l2_requestbuffers`.
#[repr(C)]
#[derive(Default)]
struct RequestBuffers {
    count: u32,
    kind: u32,
    memory: u32,
    capabilities: u32,
    flags: u32,
}

/// `struct v4l2_exportbuffer`.
#[repr(C)]
#[derive(Default)]
struct ExportBuffer {
    kind: u32,
    index: u32,
    plane: u32,
    flags: u32,
    fd: i32,
    reserved: [u32; 11],
}

/// `struct v4l2_plane`.
#[repr(C)]
#[derive(Default)]
struct Plane {
    bytesused: u32,
    length: u32,
    m: u64,
    data_offset: u32,
    reserved: [u32; 11],
}

/// `struct v4l2_buffer` of a 64-bit machine.
#[repr(C)]
struct Buffer {
    index: u32,
    kind: u32,
    bytesused: u32,
    flags: u32,
    field: u32,
    timestamp: [u64; 2],
    timecode: [u32; 4],
    sequence: u32,
    memory: u32,
    planes: *mut Plane,
    length: u32,
    reserved: [u32; 2],
}

const _: () = assert!(size_of::<Format>() == 208);
const _: () = assert!(size_of::<RequestBuffers>() == 20);
const _: () = assert!(size_of::<ExportBuffer>() == 64);
const _: () = assert!(size_of::<Plane>() == 64);
const _: () = assert!(size_of::<Buffer>() == 88);

const S_FMT: Opcode = opcode::read_write::<Format>(b'V', 5);
const REQBUFS: Opcode = opcode::read_write::<RequestBuffers>(b'V', 8);
const QBUF: Opcode = opcode::read_write::<Buffer>(b'V', 15);
const EXPBUF: Opcode = opcode::read_write::<ExportBuffer>(b'V', 16);
const DQBUF: Opcode = opcode::read_write::<Buffer>(b'V', 17);
const STREAMON: Opcode = opcode::write::<u32>(b'V', 18);

/// The first plane of one captured frame.
#[derive(Debug)]
pub struct CapturedPlane {
    /// The driver's buffer, exported.
    pub dmabuf: OwnedFd,
    /// Bytes before the first sample.
    pub data_offset: usize,
    /// Bytes from the start of the buffer to the last sample.
    pub bytesused: usize,
    /// The camera, which owns the buffer.
    _device: File,
}

/// Captures one frame and exports its first plane.
///
/// # Errors
/// What the driver answers.
///
/// # Panics
/// When the driver takes another format or size.
pub fn capture(
    device: &str,
    fourcc: [u8; 4],
    (width, height): (u32, u32),
) -> io::Result<CapturedPlane> {
    let device = OpenOptions::new().read(true).write(true).open(device)?;
    set_format(&device, fourcc, (width, height))?;
    request_one(&device, MEMORY_MMAP)?;
    let mut export =
        ExportBuffer { kind: CAPTURE_MPLANE, flags: EXPORT_FLAGS, ..ExportBuffer::default() };
    update::<EXPBUF, _>(&device, &mut export)?;
    // SAFETY: the driver just made this descriptor for us.
    let dmabuf = unsafe { OwnedFd::from_raw_fd(export.fd) };

    let mut planes: [Plane; 8] = Default::default();
    update::<QBUF, _>(&device, &mut buffer(MEMORY_MMAP, &mut planes))?;
    // SAFETY: the opcode is the one `linux/videodev2.h` gives for an int.
    let start = unsafe { Setter::<STREAMON, u32>::new(CAPTURE_MPLANE) };
    // SAFETY: the kernel only reads the number.
    unsafe { ioctl(&device, start) }?;
    update::<DQBUF, _>(&device, &mut buffer(MEMORY_MMAP, &mut planes))?;
    let wide = |n: u32| usize::try_from(n).expect("fits");
    let (data_offset, bytesused) = (wide(planes[0].data_offset), wide(planes[0].bytesused));
    Ok(CapturedPlane { dmabuf, data_offset, bytesused, _device: device })
}

/// Gives the camera a dma-buf of `len` bytes for a frame of a format that has one plane, and takes it
/// back: whether the device can reach the memory.
///
/// # Errors
/// What the driver answers: `EFAULT` for memory that the device cannot reach.
///
/// # Panics
/// When the driver takes another format or size.
pub fn queue(
    device: &str,
    fourcc: [u8; 4],
    size: (u32, u32),
    dmabuf: BorrowedFd<'_>,
    len: u32,
) -> io::Result<()> {
    let device = OpenOptions::new().read(true).write(true).open(device)?;
    set_format(&device, fourcc, size)?;
    request_one(&device, MEMORY_DMABUF)?;
    let mut planes: [Plane; 8] = Default::default();
    planes[0].m = u64::try_from(dmabuf.as_raw_fd()).expect("an open descriptor");
    planes[0].length = len;
    update::<QBUF, _>(&device, &mut buffer(MEMORY_DMABUF, &mut planes))
}

fn request_one(device: &File, memory: u32) -> io::Result<()> {
    let request =
        RequestBuffers { count: 1, kind: CAPTURE_MPLANE, memory, ..RequestBuffers::default() };
    update::<REQBUFS, _>(device, &mut { request })
}

fn set_format(device: &File, fourcc: [u8; 4], (width, height): (u32, u32)) -> io::Result<()> {
    let mut format = Format {
        kind: CAPTURE_MPLANE,
        _union_alignment: 0,
        width,
        height,
        pixelformat: u32::from_le_bytes(fourcc),
        field: 1,
        colorspace: 0,
        planes: [[0; 5]; 8],
        num_planes: 0,
        rest: [0; 19],
    };
    update::<S_FMT, _>(device, &mut format)?;
    assert_eq!((format.width, format.height), (width, height), "the size the driver took");
    assert_eq!(format.pixelformat.to_le_bytes(), fourcc, "the format the driver took");
    Ok(())
}

fn buffer(memory: u32, planes: &mut [Plane; 8]) -> Buffer {
    Buffer {
        index: 0,
        kind: CAPTURE_MPLANE,
        bytesused: 0,
        flags: 0,
        field: 0,
        timestamp: [0; 2],
        timecode: [0; 4],
        sequence: 0,
        memory,
        planes: planes.as_mut_ptr(),
        length: 8,
        reserved: [0; 2],
    }
}

fn update<const OPCODE: Opcode, T>(device: impl AsFd, value: &mut T) -> io::Result<()> {
    // SAFETY: every opcode of this file is made from the structure it is used with.
    let call = unsafe { Updater::<OPCODE, T>::new(value) };
    // SAFETY: the structures have the size and fields the kernel header gives; what a buffer
    // points to outlives the call.
    unsafe { ioctl(device, call) }?;
    Ok(())
}
