import { Filename } from '@svc/api/file-entries'
import Type from 'typebox'
import { Refusal } from '../errors.ts'
import { MAX_TEXT_BYTES, readStored, textOf } from '../stored-file.ts'
import { DATA, READS, ReceiptId, STRICT, tool } from './tool.ts'

export const readFile = tool({
  name: 'read_file',
  title: 'Read a text file of a locker',
  description:
    `Returns the text of a file, at most ${MAX_TEXT_BYTES / 1024} KiB, checked against its recorded hash; for other ` +
    `files use \`get_link\`. ${DATA}`,
  annotations: READS,
  input: Type.Object({ receipt_id: ReceiptId, filename: Filename }, STRICT),
  output: Type.Object({
    filename: Type.String(),
    content_type: Type.String(),
    content_hash: Type.Union([Type.String(), Type.Null()], {
      description: 'Null if no hash was recorded: then the text is not checked.',
    }),
    size_bytes: Type.Integer(),
    text: Type.String(),
  }),
  async run(context, name, { signal }) {
    const { filename } = name
    const { bytes, contentType, contentHash } = await readStored(context, name, signal)
    const text = textOf(bytes)
    if (text === null) throw new Refusal('not_text', `${JSON.stringify(filename)} is not text in UTF-8`, BY_LINK)
    const checked = contentHash === null ? 'not checked: no hash was recorded' : 'its bytes have the recorded hash'
    return {
      text: `${JSON.stringify(filename)}, ${bytes.length} bytes; ${checked}.`,
      data: { filename, content_type: contentType, content_hash: contentHash, size_bytes: bytes.length, text },
    }
  },
})

const BY_LINK = 'Use `get_link`'
