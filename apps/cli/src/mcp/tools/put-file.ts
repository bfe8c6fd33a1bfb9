import { Filename, type UrlSet } from '@svc/api/file-entries'
import { createFile } from '@svc/api/files'
import { contentTypeOf, lockerOf } from '@svc/sdk'
import { fileSource } from '@svc/sdk/node'
import Type, { type Static } from 'typebox'
import { type Context, requireOwner } from '../context.ts'
import { Refusal } from '../errors.ts'
import { fileLink } from '../stored-file.ts'
import { type Call, ContentType, type Outcome, Overwrite, READABLE, ReceiptId, STRICT, tool } from './tool.ts'

const Input = Type.Object(
  {
    receipt_id: ReceiptId,
    filename: Filename,
    path: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'A file below the root folder of this server.',
      }),
    ),
    url: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'A public https address, which the gateway fetches.' }),
    ),
    content_type: ContentType(
      'by the ending of `filename`, else application/octet-stream; for a `url`, that of its answer',
    ),
    overwrite: Overwrite,
  },
  STRICT,
)

const Put = Type.Object({
  receipt_id: Type.String(),
  filename: Type.String(),
  stored: Type.Boolean({ description: 'False: nothing is stored yet; run the commands first.' }),
  size_bytes: Type.Union([Type.Integer(), Type.Null()]),
  content_hash: Type.Union([Type.String(), Type.Null()]),
  upload: Type.Union([
    Type.Object({
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      expires_in_sec: Type.Integer(),
      commands: Type.Array(Type.String(), { description: 'Run them in order; replace FILE by the path of the file.' }),
    }),
    Type.Null(),
  ]),
})

export const putFile = tool({
  name: 'put_file',
  title: 'Put a file into a locker',
  description:
    'Stores a file as `filename`. Give `path` or `url`; with neither, you get an upload URL and two curl commands for ' +
    `a file on another machine. For text that you made use \`write_text\`. Free. ${READABLE}`,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  isUpload: true,
  input: Input,
  output: Put,
  async run(context, input, call) {
    requireOwner(context)
    const { path, url } = input
    if (path !== undefined && url !== undefined) throw new Refusal('bad_arguments', 'give `path` or `url`, not both')
    if (path !== undefined) return fromPath(context, input, path, call)
    if (path === undefined && url === undefined && input.overwrite === false)
      throw new Refusal('bad_arguments', 'an upload URL always replaces: give `path` or `url` with `overwrite` false')
    return url === undefined ? byUrl(context, input, call) : fromUrl(context, input, url, call)
  },
})

type Wanted = Static<typeof Input>
type Done = Promise<Outcome<Static<typeof Put>>>

async function fromPath({ client, root }: Context, wanted: Wanted, path: string, call: Call): Done {
  const { receipt_id, filename, content_type, overwrite = true } = wanted
  const file = await root.open(path)
  try {
    const onProgress = (done: number, total: number | null) => call.progress(done, total, 'uploading')
    const options = { contentType: content_type ?? contentTypeOf(filename), overwrite, onProgress, signal: call.signal }
    return stored(receipt_id, await client.put(lockerOf(receipt_id), filename, await fileSource(file), options))
  } finally {
    await file.close()
  }
}

async function fromUrl({ client }: Context, wanted: Wanted, url: string, { signal }: Call): Done {
  const { receipt_id, filename, content_type, overwrite } = wanted
  const parsed = URL.parse(url)
  if (parsed?.protocol !== 'https:' || parsed.username || parsed.password)
    throw new Refusal('bad_url', 'url must be a public https address without a password')
  const options = {
    ...(content_type && { contentType: content_type }),
    ...(overwrite !== undefined && { overwrite }),
    signal,
  }
  return stored(receipt_id, await client.fetchInto(lockerOf(receipt_id), filename, url, options))
}

function stored(receipt_id: string, file: { filename: string; size_bytes: number; content_hash: string }) {
  const { filename, size_bytes, content_hash } = file
  return {
    text: `Stored ${JSON.stringify(filename)}: ${size_bytes} bytes, ${content_hash}. \`attest\` commits to it.`,
    data: { receipt_id, filename, stored: true, size_bytes, content_hash, upload: null },
    links: [fileLink({ receipt_id, filename })],
  }
}

async function byUrl({ client, settings }: Context, wanted: Wanted, { signal }: Call): Done {
  const { receipt_id, filename, content_type } = wanted
  const { locker_id } = lockerOf(receipt_id)
  const request = { filename, content_type: content_type ?? contentTypeOf(filename) }
  const { body } = await client.call(createFile, { params: { locker_id }, body: request, signal })
  const commands = uploadCommands(settings.gateway, receipt_id, body)
  const { upload_url: url, upload_headers: headers, urls_expire_in_sec: expires_in_sec } = body
  return {
    text:
      `Nothing is stored yet. Replace FILE, then run:\n${commands.join('\n')}\n` +
      'The second command contains the receipt, which opens every file of the locker: share it only with people who may read them all.',
    data: {
      receipt_id,
      filename: body.filename,
      stored: false,
      size_bytes: null,
      content_hash: null,
      upload: { url, headers, expires_in_sec, commands },
    },
  }
}

/** Commands for the holder of the file: upload by a short URL, then have the gateway record the hash. */
function uploadCommands(gateway: string, receiptId: string, urls: UrlSet): string[] {
  const { upload_url, upload_headers, filename } = urls
  const headers = Object.entries(upload_headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`)
  const query = new URLSearchParams({ receipt_id: receiptId, filename })
  return [
    ['curl --fail --location -T FILE', ...headers, shellWord(upload_url)].join(' '),
    `curl --fail -X POST ${shellWord(`${gateway}/v1/files/confirm?${query}`)}`,
  ]
}

/** Quotes text as one literal shell word. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
