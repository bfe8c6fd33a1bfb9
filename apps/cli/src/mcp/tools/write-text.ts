import { Filename } from '@svc/api/file-entries'
import { contentTypeOf, lockerOf } from '@svc/sdk'
import Type from 'typebox'
import { requireOwner } from '../context.ts'
import { fileLink, MAX_TEXT_BYTES } from '../stored-file.ts'
import { ContentType, Overwrite, READABLE, ReceiptId, STRICT, tool } from './tool.ts'

export const writeText = tool({
  name: 'write_text',
  title: 'Write a text file into a locker',
  description: `Stores text that you made as \`filename\`; for existing files use \`put_file\`. Free. ${READABLE}`,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  isUpload: true,
  input: Type.Object(
    {
      receipt_id: ReceiptId,
      filename: Filename,
      text: Type.String({ maxLength: MAX_TEXT_BYTES, description: 'The whole content.' }),
      content_type: ContentType('by the ending of `filename`, else text/plain'),
      overwrite: Overwrite,
    },
    STRICT,
  ),
  output: Type.Object({
    receipt_id: Type.String(),
    filename: Type.String(),
    content_type: Type.String(),
    size_bytes: Type.Integer(),
    content_hash: Type.String(),
  }),
  async run(context, { receipt_id, filename, text, content_type, overwrite = true }, { signal }) {
    requireOwner(context)
    const contentType = content_type ?? textTypeOf(filename)
    const options = { contentType, overwrite, signal }
    const stored = await context.client.put(lockerOf(receipt_id), filename, new TextEncoder().encode(text), options)
    const { size_bytes, content_hash } = stored
    return {
      text: `Stored ${JSON.stringify(filename)}. \`attest\` commits to it.`,
      data: { receipt_id, filename, content_type: contentType, size_bytes, content_hash },
      links: [fileLink({ receipt_id, filename })],
    }
  },
})

/** The content is always text, even if the name suggests another type. */
function textTypeOf(filename: string): string {
  const type = contentTypeOf(filename)
  return type === 'application/octet-stream' ? 'text/plain' : type
}
