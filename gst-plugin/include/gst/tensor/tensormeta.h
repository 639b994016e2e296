/* The tensor meta of a GstBuffer, for C and C++. Nothing has to be linked but GStreamer: the plugin
 * "tensor" registers the meta, and everything here finds it by name. Without the plugin there is no
 * meta, and every question is answered with NULL or FALSE.
 *
 *   GstTensorBlobMeta *meta = gst_buffer_get_tensor_blob_meta (buffer, 0);
 *   GstTensorBlob tensor;
 *   if (meta && gst_tensor_blob_meta_read (meta, &tensor))
 *     GstMemory *memory = gst_buffer_peek_memory (buffer, tensor.planes[0].memory);
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GST_TENSOR_TENSORMETA_H
#define GST_TENSOR_TENSORMETA_H

#include <string.h>

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TENSOR_BLOB_META_API_NAME "TensorBlobMetaAPI"
#define GST_TENSOR_BLOB_META_NAME "TensorBlobMeta"
#define GST_TENSOR_BLOB_META_ABI 1
#define GST_TENSOR_BLOB_MAX_DIMS 8
#define GST_TENSOR_BLOB_MAX_PLANES 4

/* The codes of element types and of kinds of memory, as docs/blob.md has them. */
typedef enum {
  GST_TENSOR_BLOB_U8, GST_TENSOR_BLOB_I8, GST_TENSOR_BLOB_U16, GST_TENSOR_BLOB_I16,
  GST_TENSOR_BLOB_U32, GST_TENSOR_BLOB_I32, GST_TENSOR_BLOB_U64, GST_TENSOR_BLOB_I64,
  GST_TENSOR_BLOB_F16, GST_TENSOR_BLOB_F32, GST_TENSOR_BLOB_F64
} GstTensorBlobType;

typedef enum {
  GST_TENSOR_BLOB_MEM = 0,      /* no fd */
  GST_TENSOR_BLOB_SHM = 1,      /* memfd */
  GST_TENSOR_BLOB_DMABUF = 2
} GstTensorBlobKind;

/* What every reader may rely on. More fields follow that belong to who made the meta. */
typedef struct {
  GstMeta meta;
  guint32 abi;                  /* GST_TENSOR_BLOB_META_ABI, else nothing below is to be read */
  guint32 index;                /* which of the buffer's tensors this is, 0 first */
  GBytes *blob;                 /* never changes; plane handles are indices of the buffer's memories */
} GstTensorBlobMeta;

typedef struct {
  guint memory;                 /* index of the buffer's GstMemory */
  guint64 offset;               /* bytes from the start of the memory's backing: of the fd, or, without
                                 * one, of what maxsize counts. gst_memory_map() starts at the
                                 * memory's own offset, which is to be taken off. */
  guint64 stride;               /* bytes from row to row */
  guint64 size;                 /* bytes, the padding of the last row included where there is any */
  guint64 used;                 /* bytes up to the end of the last sample */
  guint64 modifier;             /* DRM modifier, 0 linear */
} GstTensorBlobPlane;

/* One tensor, as its blob says. */
typedef struct {
  GstTensorBlobKind kind;
  GstTensorBlobType dtype;
  guint n_dims;
  guint64 dims[GST_TENSOR_BLOB_MAX_DIMS];       /* outermost first */
  gboolean dense;               /* no strides are said: elements follow each other in C order, an
                                 * image's rows at the stride of its plane */
  gint64 strides[GST_TENSOR_BLOB_MAX_DIMS];     /* bytes; unless dense */
  gchar format[24];             /* name of the pixel format, "" for a tensor that is no image */
  guint n_planes;
  GstTensorBlobPlane planes[GST_TENSOR_BLOB_MAX_PLANES];
} GstTensorBlob;

/* A rectangle, and the size of what it is a part of; pixels. */
typedef struct {
  guint32 x, y, width, height;
  guint32 of_width, of_height;
} GstTensorBlobRegion;

/* Where the pixels of a model's input come from. */
typedef struct {
  GstTensorBlobRegion content;  /* where the image lies in the input */
  GstTensorBlobRegion taken;    /* which part of the frame it is; of_width 0 where that is not known */
} GstTensorBlobOrigin;

/* G_TYPE_INVALID where no plugin has registered the meta. */
static inline GType
gst_tensor_blob_meta_api_get_type (void)
{
  return g_type_from_name (GST_TENSOR_BLOB_META_API_NAME);
}

/* Tensor `index` of the buffer, or NULL. */
static inline GstTensorBlobMeta *
gst_buffer_get_tensor_blob_meta (GstBuffer * buffer, guint32 index)
{
  GType api = gst_tensor_blob_meta_api_get_type ();
  gpointer state = NULL;
  GstMeta *meta;

  if (api == G_TYPE_INVALID)
    return NULL;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, api))) {
    GstTensorBlobMeta *tensor = (GstTensorBlobMeta *) meta;
    if (meta->info->size >= sizeof (*tensor) && tensor->abi == GST_TENSOR_BLOB_META_ABI
        && tensor->index == index && tensor->blob)
      return tensor;
  }
  return NULL;
}

/* The bytes of the blob, as long as the meta lives. */
static inline const guint8 *
gst_tensor_blob_meta_get_data (const GstTensorBlobMeta * meta, gsize * size)
{
  return (const guint8 *) g_bytes_get_data (meta->blob, size);
}

/* Reads the blob at the front of `size` bytes. FALSE when they are none that this header can read:
 * too short, another version, more axes or planes than there is room for, or planes that are carried
 * in the blob itself. */
static inline gboolean
gst_tensor_blob_parse (const guint8 * data, gsize size, GstTensorBlob * out)
{
  guint64 total, at, region, planes_bytes;
  guint32 n_dims, n_strides, n_planes, i, len;

  if (size < 72)
    return FALSE;
  total = GST_READ_UINT64_LE (data);
  planes_bytes = GST_READ_UINT64_LE (data + 16);
  n_dims = GST_READ_UINT32_LE (data + 44);
  n_planes = GST_READ_UINT32_LE (data + 48);
  n_strides = GST_READ_UINT32_LE (data + 64);
  if (total < 72 || total > size || GST_READ_UINT64_LE (data + 8) != 0
      || n_dims > GST_TENSOR_BLOB_MAX_DIMS || (n_strides != 0 && n_strides != n_dims)
      || n_planes == 0 || n_planes > GST_TENSOR_BLOB_MAX_PLANES
      || GST_READ_UINT32_LE (data + 36) > GST_TENSOR_BLOB_F64)
    return FALSE;
  memset (out, 0, sizeof (*out));
  out->kind = (GstTensorBlobKind) GST_READ_UINT32_LE (data + 24);
  out->dtype = (GstTensorBlobType) GST_READ_UINT32_LE (data + 36);
  out->n_dims = n_dims;
  out->dense = n_strides == 0;
  out->n_planes = n_planes;

  /* No sum here can wrap: every term is below 2^35. */
  region = 72 + 8 * ((guint64) n_dims + n_strides)
      + 4 * ((guint64) GST_READ_UINT32_LE (data + 52) + GST_READ_UINT32_LE (data + 56));
  at = region + GST_READ_UINT32_LE (data + 60);
  if (at > total || planes_bytes > total - at || at < region + 4 || at % 8 != 0)
    return FALSE;
  for (i = 0; i < n_dims; i++)
    out->dims[i] = GST_READ_UINT64_LE (data + 72 + 8 * i);
  for (i = 0; i < n_strides; i++)
    out->strides[i] = (gint64) GST_READ_UINT64_LE (data + 72 + 8 * (n_dims + i));
  len = GST_READ_UINT32_LE (data + region);
  if (len >= sizeof (out->format) || len > at - region - 4)
    return FALSE;
  memcpy (out->format, data + region + 4, len);

  for (i = 0; i < n_planes; i++) {
    GstTensorBlobPlane *plane = &out->planes[i];
    const guint8 *record;
    guint64 handle, payload;

    if (planes_bytes < 56)
      return FALSE;
    record = data + at;
    handle = GST_READ_UINT64_LE (record);
    payload = (56 + (guint64) GST_READ_UINT32_LE (record + 48)
        + GST_READ_UINT32_LE (record + 52) + 7) / 8 * 8;
    if (handle > G_MAXUINT || payload > planes_bytes)
      return FALSE;
    plane->memory = (guint) handle;
    plane->offset = GST_READ_UINT64_LE (record + 8);
    plane->stride = GST_READ_UINT64_LE (record + 16);
    plane->size = GST_READ_UINT64_LE (record + 24);
    plane->used = GST_READ_UINT64_LE (record + 32);
    plane->modifier = GST_READ_UINT64_LE (record + 40);
    at += payload;
    planes_bytes -= payload;
  }
  return TRUE;
}

static inline gboolean
gst_tensor_blob_meta_read (const GstTensorBlobMeta * meta, GstTensorBlob * out)
{
  gsize size = 0;
  const guint8 *data = gst_tensor_blob_meta_get_data (meta, &size);

  return data != NULL && gst_tensor_blob_parse (data, size, out);
}

/* Reads where the pixels come from out of the blob at the front of `size` bytes. FALSE when it does not
 * say. */
static inline gboolean
gst_tensor_blob_parse_origin (const guint8 * data, gsize size, GstTensorBlobOrigin * out)
{
  GstTensorBlob tensor;
  guint64 at, left, len, skip;

  memset (out, 0, sizeof (*out));
  if (!gst_tensor_blob_parse (data, size, &tensor))
    return FALSE;
  /* Inside the blob: the parser has seen all of it. */
  at = 72 + 8 * ((guint64) GST_READ_UINT32_LE (data + 44) + GST_READ_UINT32_LE (data + 64))
      + 4 * ((guint64) GST_READ_UINT32_LE (data + 52) + GST_READ_UINT32_LE (data + 56))
      + GST_READ_UINT32_LE (data + 60) + GST_READ_UINT64_LE (data + 16);
  left = GST_READ_UINT64_LE (data) - at;
  if (left < 24 || memcmp (data + at, "GTX1", 4) != 0)
    return FALSE;
  len = GST_READ_UINT32_LE (data + at + 4);
  if (len > left)
    return FALSE;
  skip = 24 + ((guint64) GST_READ_UINT32_LE (data + at + 20) + 7) / 8 * 8;
  while (skip + 32 <= len) {
    const guint8 *record = data + at + skip;
    guint32 kind = GST_READ_UINT32_LE (record), bytes = GST_READ_UINT32_LE (record + 4);
    GstTensorBlobRegion *region = kind == 1 ? &out->content : kind == 2 ? &out->taken : NULL;

    if (bytes < 8 || bytes > len - skip)
      return FALSE;
    if (region && bytes >= 32) {
      region->x = GST_READ_UINT32_LE (record + 8);
      region->y = GST_READ_UINT32_LE (record + 12);
      region->width = GST_READ_UINT32_LE (record + 16);
      region->height = GST_READ_UINT32_LE (record + 20);
      region->of_width = GST_READ_UINT32_LE (record + 24);
      region->of_height = GST_READ_UINT32_LE (record + 28);
      if (region->width == 0 || region->height == 0
          || (guint64) region->x + region->width > region->of_width
          || (guint64) region->y + region->height > region->of_height)
        return FALSE;
    }
    skip += ((guint64) bytes + 7) / 8 * 8;
  }
  return out->content.of_width != 0;
}

static inline gboolean
gst_tensor_blob_meta_read_origin (const GstTensorBlobMeta * meta, GstTensorBlobOrigin * out)
{
  gsize size = 0;
  const guint8 *data = gst_tensor_blob_meta_get_data (meta, &size);

  return data != NULL && gst_tensor_blob_parse_origin (data, size, out);
}

/* Leads a box, { xmin, ymin, xmax, ymax } as parts of a model's input, back to the frame, of which it is
 * parts then: of the image, where the frame is not known. It is held to what was taken, and its corners
 * are put in order. */
static inline void
gst_tensor_blob_origin_to_frame (const GstTensorBlobOrigin * origin, gfloat box[4])
{
  const GstTensorBlobRegion *content = &origin->content, *taken = &origin->taken;
  guint i;

  for (i = 0; i < 4; i++) {
    gboolean across = i % 2 == 0;
    gfloat from = across ? content->x : content->y;
    gfloat extent = across ? content->width : content->height;
    gfloat of = across ? content->of_width : content->of_height;
    gfloat part = (box[i] * of - from) / extent;

    part = CLAMP (part, 0.0f, 1.0f);
    if (taken->of_width != 0 && across)
      part = (taken->x + part * taken->width) / taken->of_width;
    else if (taken->of_width != 0)
      part = (taken->y + part * taken->height) / taken->of_height;
    box[i] = part;
  }
  for (i = 0; i < 2; i++) {
    gfloat least = MIN (box[i], box[i + 2]);

    box[i + 2] = MAX (box[i], box[i + 2]);
    box[i] = least;
  }
}

/* The blob of a tensor of `bytes` bytes that is no image, its elements in C order from byte `offset`
 * of memory `memory` on. NULL for more axes than a tensor has. */
static inline GBytes *
gst_tensor_blob_new_dense (GstTensorBlobKind kind, GstTensorBlobType dtype, guint n_dims,
    const guint64 * dims, guint memory, guint64 offset, guint64 bytes)
{
  const gsize strings = 24, planes = 56, size = 72 + 8 * (gsize) n_dims + strings + planes;
  guint8 *data, *record;
  guint i;

  if (n_dims > GST_TENSOR_BLOB_MAX_DIMS)
    return NULL;
  data = (guint8 *) g_malloc0 (size);
  GST_WRITE_UINT64_LE (data, size);
  GST_WRITE_UINT64_LE (data + 16, planes);
  GST_WRITE_UINT32_LE (data + 24, kind);
  GST_WRITE_UINT32_LE (data + 32, G_MAXUINT32); /* no fence */
  GST_WRITE_UINT32_LE (data + 36, dtype);
  GST_WRITE_UINT32_LE (data + 40, (guint32) -2);        /* no quantization */
  GST_WRITE_UINT32_LE (data + 44, n_dims);
  GST_WRITE_UINT32_LE (data + 48, 1);
  GST_WRITE_UINT32_LE (data + 60, strings);     /* five empty ones, padded to a multiple of 8 */
  for (i = 0; i < n_dims; i++)
    GST_WRITE_UINT64_LE (data + 72 + 8 * i, dims[i]);
  record = data + 72 + 8 * n_dims + strings;
  GST_WRITE_UINT64_LE (record, memory);
  GST_WRITE_UINT64_LE (record + 8, offset);
  GST_WRITE_UINT64_LE (record + 16, bytes);
  GST_WRITE_UINT64_LE (record + 24, bytes);
  GST_WRITE_UINT64_LE (record + 32, bytes);
  return g_bytes_new_take (data, size);
}

/* Says that tensor `index` of a writable buffer is what `blob` describes; takes a reference of its
 * own. What was said of that tensor before is replaced. NULL where no plugin has registered the meta. */
static inline GstTensorBlobMeta *
gst_buffer_add_tensor_blob_meta (GstBuffer * buffer, guint32 index, GBytes * blob)
{
  const GstMetaInfo *info = gst_meta_get_info (GST_TENSOR_BLOB_META_NAME);
  GstTensorBlobMeta *meta = gst_buffer_get_tensor_blob_meta (buffer, index);

  if (!info || info->size < sizeof (*meta))
    return NULL;
  if (meta)
    gst_buffer_remove_meta (buffer, &meta->meta);
  meta = (GstTensorBlobMeta *) gst_buffer_add_meta (buffer, info, NULL);
  if (meta && meta->abi == GST_TENSOR_BLOB_META_ABI) {
    meta->index = index;
    meta->blob = g_bytes_ref (blob);
  } else if (meta) {
    gst_buffer_remove_meta (buffer, &meta->meta);
    meta = NULL;
  }
  return meta;
}

G_END_DECLS

#endif /* GST_TENSOR_TENSORMETA_H */
