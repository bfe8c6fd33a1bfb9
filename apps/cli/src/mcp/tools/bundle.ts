import { DSSE_TYPES, type DsseFormat } from '@svc/api/dsse'
import { Filename } from '@svc/api/file-entries'
import Type from 'typebox'
import { Refusal } from '../errors.ts'
import { MAX_TEXT_BYTES } from '../stored-file.ts'
import { READS, ReceiptId, Sequence, STRICT, tool } from './tool.ts'

/** The values of `format`, and the gateway's names for them. */
const FORMATS = { sigstore: 'sigstore-bundle', dsse: 'dsse' } as const satisfies Record<string, DsseFormat>

export const bundle = tool({
  name: 'bundle',
  title: 'Evidence for other verifiers',
  description:
    'Returns a statement for cosign and Sigstore libraries: an in-toto statement whose subjects are the files. Its ' +
    'signature is checked here. It does not name the receipt, so it opens no file and may be handed on.',
  annotations: READS,
  input: Type.Object(
    {
      receipt_id: ReceiptId,
      format: Type.Optional(
        Type.Enum(Object.keys(FORMATS) as (keyof typeof FORMATS)[], {
          description: 'A Sigstore bundle (default) or a DSSE envelope.',
        }),
      ),
      filename: Type.Optional(
        Type.String({ ...Filename, description: 'Proves this file; by default all files of a small locker.' }),
      ),
      sequence: Sequence,
    },
    STRICT,
  ),
  output: Type.Object({
    format: Type.Enum(Object.keys(FORMATS) as (keyof typeof FORMATS)[]),
    media_type: Type.String(),
    size_bytes: Type.Integer(),
    document: Type.String({ description: 'JSON. Save it unchanged.' }),
  }),
  async run({ client }, { receipt_id, format = 'sigstore', ...wanted }, { signal }) {
    const document = JSON.stringify(await client.dsse(receipt_id, { ...wanted, format: FORMATS[format], signal }))
    const size_bytes = Buffer.byteLength(document)
    if (size_bytes > MAX_TEXT_BYTES)
      throw new Refusal('file_too_large', `the bundle has ${size_bytes} bytes`, 'Give a `filename` to prove one file')
    return {
      text: `${wanted.filename === undefined ? 'All files' : JSON.stringify(wanted.filename)}: ${size_bytes} bytes, signed.`,
      data: { format, media_type: DSSE_TYPES[FORMATS[format]], size_bytes, document },
    }
  },
})
