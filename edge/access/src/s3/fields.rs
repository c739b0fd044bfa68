//! Fields that several operations of S3 have under the same names. Each macro reads or fills them in one place.

/// The checksums that a request says its body has.
macro_rules! said {
    ($input:expr) => {
        s3s::dto::Checksum {
            checksum_crc32: $input.checksum_crc32,
            checksum_crc32c: $input.checksum_crc32c,
            checksum_crc64nvme: $input.checksum_crc64nvme,
            checksum_sha1: $input.checksum_sha1,
            checksum_sha256: $input.checksum_sha256,
            checksum_type: None,
        }
    };
}

/// What a request says has to hold of the file that it reads.
macro_rules! reading {
    ($input:expr) => {
        $crate::s3::keys::Reading {
            if_match: $input.if_match.as_ref(),
            if_none_match: $input.if_none_match.as_ref(),
            if_modified_since: $input.if_modified_since.as_ref(),
            if_unmodified_since: $input.if_unmodified_since.as_ref(),
        }
    };
}

/// What a request says has to hold of the file that it copies.
macro_rules! reading_source {
    ($input:expr) => {
        $crate::s3::keys::Reading {
            if_match: $input.copy_source_if_match.as_ref(),
            if_none_match: $input.copy_source_if_none_match.as_ref(),
            if_modified_since: $input.copy_source_if_modified_since.as_ref(),
            if_unmodified_since: $input.copy_source_if_unmodified_since.as_ref(),
        }
    };
}

/// What an answer says of a file, or of a part of it.
macro_rules! shown {
    ($output:ident, $entry:expr, $part:expr, $content_range:expr) => {
        $output {
            accept_ranges: Some("bytes".to_owned()),
            content_length: i64::try_from($part.end.saturating_sub($part.start)).ok(),
            content_range: $content_range,
            content_type: Some($crate::s3::keys::kind_of(&$entry.meta)),
            e_tag: Some($crate::s3::keys::tag(&$entry.meta.hash)),
            last_modified: Some($crate::s3::keys::modified(&$entry.meta)),
            metadata: Some($crate::s3::keys::metadata(&$entry.meta)),
            ..$output::default()
        }
    };
}

pub(super) use {reading, reading_source, said, shown};
