/* The tensor meta as another program's C sees it: with the header alone, from a pipeline whose
 * elements are the plugin file's. S-GST-04 */
#include <gst/tensor/tensormeta.h>

#include <stdio.h>

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf (stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
      return FALSE;                                                       \
    }                                                                     \
  } while (0)

enum { WIDTH = 64, HEIGHT = 36, FRAMES = 5 };

/* A white frame: luma 235, chroma 128. */
static gboolean
check_plane (GstBuffer * buffer, const GstTensorBlobPlane * plane, guint rows, guint8 value)
{
  GstMemory *memory;
  GstMapInfo map;
  guint row, column;

  CHECK (plane->memory < gst_buffer_n_memory (buffer));
  CHECK (plane->modifier == 0 && plane->stride >= WIDTH && plane->used <= plane->size);
  memory = gst_buffer_peek_memory (buffer, plane->memory);
  CHECK (plane->offset >= memory->offset);
  CHECK (plane->offset - memory->offset + plane->used <= memory->size);
  CHECK (gst_memory_map (memory, &map, GST_MAP_READ));
  for (row = 0; row < rows; row++)
    for (column = 0; column < WIDTH; column++)
      CHECK (map.data[plane->offset - memory->offset + row * plane->stride + column] == value);
  gst_memory_unmap (memory, &map);
  return TRUE;
}

static gboolean
check_frame (GstBuffer * buffer)
{
  GstTensorBlobMeta *meta = gst_buffer_get_tensor_blob_meta (buffer, 0);
  GstTensorBlob tensor;

  CHECK (meta != NULL);
  CHECK (gst_buffer_get_tensor_blob_meta (buffer, 1) == NULL);
  CHECK (gst_tensor_blob_meta_read (meta, &tensor));
  CHECK (strcmp (tensor.format, "NV12") == 0 && tensor.dtype == GST_TENSOR_BLOB_U8);
  CHECK (tensor.n_dims == 2 && tensor.dims[0] == HEIGHT && tensor.dims[1] == WIDTH);
  CHECK (tensor.n_planes == 2);
  return check_plane (buffer, &tensor.planes[0], HEIGHT, 235)
      && check_plane (buffer, &tensor.planes[1], HEIGHT / 2, 128);
}

/* A second tensor on the same buffer; copies keep both. */
static gboolean
check_attached (GstBuffer * frame)
{
  const guint64 dims[] = { 1, 2, 5 };
  GBytes *blob;
  GstBuffer *buffer = gst_buffer_make_writable (gst_buffer_ref (frame)), *copy;
  GstTensorBlob tensor;
  guint i;

  blob = gst_tensor_blob_new_dense (GST_TENSOR_BLOB_MEM, GST_TENSOR_BLOB_F32, 3, dims,
      gst_buffer_n_memory (buffer), 0, 40);
  gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, 40, NULL));
  /* Twice: the second takes the place of the first. */
  for (i = 0; i < 2; i++)
    CHECK (gst_buffer_add_tensor_blob_meta (buffer, 3, blob) != NULL);
  g_bytes_unref (blob);
  CHECK (gst_buffer_get_n_meta (buffer, gst_tensor_blob_meta_api_get_type ()) == 2);

  copy = gst_buffer_copy (buffer);
  gst_buffer_unref (buffer);
  CHECK (gst_tensor_blob_meta_read (gst_buffer_get_tensor_blob_meta (copy, 3), &tensor));
  CHECK (tensor.n_dims == 3 && tensor.dims[2] == 5 && tensor.dtype == GST_TENSOR_BLOB_F32);
  CHECK (tensor.dense && tensor.format[0] == '\0' && tensor.planes[0].used == 40);
  CHECK (check_frame (frame));
  gst_buffer_unref (copy);
  return TRUE;
}

/* Every shorter blob, and every changed byte of the header, is refused or read without harm. */
static gboolean
check_hostile (GstBuffer * buffer)
{
  gsize size = 0, at;
  guint8 value, *copy;
  GstTensorBlob tensor;
  const guint8 *data =
      gst_tensor_blob_meta_get_data (gst_buffer_get_tensor_blob_meta (buffer, 0), &size);

  for (at = 0; at < size; at++) {
    copy = (guint8 *) g_memdup2 (data, at);
    CHECK (!gst_tensor_blob_parse (copy, at, &tensor));
    g_free (copy);
  }
  copy = (guint8 *) g_memdup2 (data, size);
  for (at = 0; at < size; at++) {
    for (value = 255; value > 0; value = value / 2) {
      copy[at] ^= value;
      gst_tensor_blob_parse (copy, size, &tensor);
      copy[at] = data[at];
    }
  }
  g_free (copy);
  return TRUE;
}

/* An input of a model: where its pixels come from, and a box led back to the frame. */
static gboolean
check_origin (GstBuffer * buffer)
{
  GstTensorBlobMeta *meta = gst_buffer_get_tensor_blob_meta (buffer, 0);
  GstTensorBlobOrigin origin;
  const guint8 *data;
  guint8 *copy, value;
  gsize size = 0, at;
  gfloat box[4] = { 0.0f, 0.25f, 0.5f, 2.0f };
  gfloat mirrored[4] = { 0.5f, 2.0f, 0.0f, 0.25f };

  CHECK (meta != NULL && gst_tensor_blob_meta_read_origin (meta, &origin));
  CHECK (origin.content.y == 8 && origin.content.width == 32 && origin.content.height == 16);
  CHECK (origin.content.of_width == 32 && origin.content.of_height == 32);
  CHECK (origin.taken.x == 16 && origin.taken.width == 32 && origin.taken.of_width == WIDTH);
  gst_tensor_blob_origin_to_frame (&origin, box);
  CHECK (box[0] == 16.0f / WIDTH && box[2] == 32.0f / WIDTH);
  CHECK (box[1] == 4.0f / HEIGHT && box[3] == 20.0f / HEIGHT);
  gst_tensor_blob_origin_to_frame (&origin, mirrored);
  CHECK (memcmp (box, mirrored, sizeof (box)) == 0);

  data = gst_tensor_blob_meta_get_data (meta, &size);
  for (at = 0; at < size; at++) {
    copy = (guint8 *) g_memdup2 (data, at);
    CHECK (!gst_tensor_blob_parse_origin (copy, at, &origin));
    g_free (copy);
  }
  copy = (guint8 *) g_memdup2 (data, size);
  for (at = 0; at < size; at++) {
    for (value = 255; value > 0; value = value / 2) {
      copy[at] ^= value;
      gst_tensor_blob_parse_origin (copy, size, &origin);
      copy[at] = data[at];
    }
  }
  g_free (copy);
  return TRUE;
}

static int seen;
static gboolean failed;

static void
on_frame (GstElement * sink, GstBuffer * buffer, GstPad * pad, gpointer data)
{
  (void) sink, (void) pad, (void) data;
  failed |= !check_frame (buffer) || !check_attached (buffer) || !check_hostile (buffer);
  seen++;
}

static void
on_input (GstElement * sink, GstBuffer * buffer, GstPad * pad, gpointer data)
{
  (void) sink, (void) pad, (void) data;
  failed |= !check_origin (buffer);
  seen++;
}

/* Five white frames through an element, each handed to `check`. */
static void
run (const gchar * element, GCallback check)
{
  GstElement *pipeline, *sink;
  GstMessage *message;
  GError *error = NULL;
  gchar *description = g_strdup_printf ("videotestsrc pattern=white num-buffers=%d ! "
      "video/x-raw,format=NV12,width=%d,height=%d,colorimetry=bt601 ! %s ! "
      "fakesink name=sink signal-handoffs=true", FRAMES, WIDTH, HEIGHT, element);

  seen = 0;
  pipeline = gst_parse_launch (description, &error);
  g_free (description);
  if (!pipeline || error) {
    fprintf (stderr, "%s\n", error ? error->message : "no pipeline");
    failed = TRUE;
    return;
  }
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", check, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), 60 * GST_SECOND,
      (GstMessageType) (GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  failed |= !message || GST_MESSAGE_TYPE (message) != GST_MESSAGE_EOS || seen != FRAMES;
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (message)
    gst_message_unref (message);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  printf ("%d frames of %s read from C: %s\n", seen, element, failed ? "FAILED" : "ok");
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  run ("tensorimport", G_CALLBACK (on_frame));
  run ("tensorconvert width=32 height=32 crop=16,4,32,16", G_CALLBACK (on_input));
  return failed;
}
