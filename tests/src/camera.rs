//! The virtual cameras of the test machine.

use std::{path::Path, process::Command};

/// A camera of the kernel's `vivid` driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Camera {
    /// All planes of a frame in one buffer.
    SinglePlanar,
    /// A buffer for each plane.
    MultiPlanar,
}

/// An input of the `vivid` driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A few fixed sizes.
    Webcam = 0,
    /// Any size.
    Hdmi = 3,
}

/// Says aloud that a test is skipped, and why.
///
/// # Panics
/// When `REQUIRE_BACKENDS` names what is missing.
pub fn skip(missing: &str, why: &str) {
    #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
    let required = std::env::var("REQUIRE_BACKENDS").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == missing), "required but missing: {why}");
    println!("skipped: {why}");
}

impl Camera {
    /// The device node.
    #[must_use]
    pub const fn device(self) -> &'static str {
        match self {
            Self::SinglePlanar => "/dev/vivid-single",
            Self::MultiPlanar => "/dev/vivid-multi",
        }
    }

    /// A camera of either kind, set to `input`, or a spoken skip where there is none.
    ///
    /// # Panics
    /// As [`open`](Self::open).
    #[must_use]
    pub fn any(input: Input) -> Option<Self> {
        let both = [Self::SinglePlanar, Self::MultiPlanar];
        let found = both.into_iter().find(|camera| Path::new(camera.device()).exists());
        found.unwrap_or(Self::SinglePlanar).open(input)
    }

    /// Whether the driver can only reach memory that is one run of pages, as a device without an
    /// IOMMU (`allocators=1`).
    #[must_use]
    pub fn needs_contiguous() -> bool {
        let allocators = std::fs::read_to_string("/sys/module/vivid/parameters/allocators");
        allocators.is_ok_and(|allocators| allocators.starts_with('1'))
    }

    /// The camera, set to `input`, or a spoken skip where there is none.
    ///
    /// # Panics
    /// When `REQUIRE_BACKENDS` names `vivid` and there is no such camera, or it refuses the input.
    #[must_use]
    pub fn open(self, input: Input) -> Option<Self> {
        if !Path::new(self.device()).exists() {
            skip("vivid", &format!("there is no {}", self.device()));
            return None;
        }
        #[expect(clippy::as_conversions, reason = "the number the driver gives the input")]
        let number = (input as u32).to_string();
        let set = Command::new("v4l2-ctl").args(["-d", self.device(), "-i", &number]).output();
        assert!(set.is_ok_and(|output| output.status.success()), "input {number}");
        Some(self)
    }

    /// The source element for this camera, showing a picture that does not move.
    #[must_use]
    pub fn source(self, io_mode: &str, frames: u32) -> String {
        format!(
            "v4l2src device={} io-mode={io_mode} num-buffers={frames} \
             extra-controls=\"c,osd_text_mode=2\"",
            self.device()
        )
    }
}
