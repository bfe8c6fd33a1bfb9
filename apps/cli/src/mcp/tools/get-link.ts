import { Filename, TtlMinutes } from '@svc/api/file-entries'
import { fileUrls, getFile } from '@svc/api/files'
import { lockerOf, publicUrl } from '@svc/sdk'
import Type from 'typebox'
import { durationText } from '../../output/quantities.ts'
import { requireOwner } from '../context.ts'
import { Refusal } from '../errors.ts'
import { PUBLIC_LINK_OPENS } from '../explain/topics.ts'
import { linkOpens } from './access.ts'
import { READS, ReceiptId, STRICT, tool } from './tool.ts'

/** The longest time that the gateway allows. */
const DAY_MIN = 1440

export const getLink = tool({
  name: 'get_link',
  title: 'Share a file by a link',
  description:
    'Shares a file by a temporary link that opens only this file. With `public` also the public address, which opens ' +
    'the whole locker until the owner rotates or closes it: only if the user asks for that.',
  annotations: { ...READS, idempotentHint: false },
  input: Type.Object(
    {
      receipt_id: ReceiptId,
      filename: Filename,
      ttl_min: Type.Optional(
        Type.Integer({ ...TtlMinutes, default: DAY_MIN, description: 'How many minutes the link works.' }),
      ),
      public: Type.Optional(Type.Boolean({ description: `Also give the public address. ${PUBLIC_LINK_OPENS}` })),
    },
    STRICT,
  ),
  output: Type.Object({
    filename: Type.String(),
    download_url: Type.String({ description: 'Opaque; it expires.' }),
    expires_in_sec: Type.Integer(),
    public_url: Type.Union([Type.String(), Type.Null()], {
      description: 'Does not expire. Null without `public`, and while the public link of the locker is closed.',
    }),
    content_type: Type.String(),
    content_hash: Type.Union([Type.String(), Type.Null()]),
    size_bytes: Type.Union([Type.Integer(), Type.Null()]),
  }),
  async run(context, { receipt_id, filename, ttl_min = DAY_MIN, public: isPublic = false }, { signal }) {
    requireOwner(context)
    const { client, settings } = context
    const locker = lockerOf(receipt_id)
    const { locker_id } = locker
    const body = { filenames: [filename], ttl_min }
    const { urls, urls_expire_in_sec } = (await client.call(fileUrls, { params: { locker_id }, body, signal })).body
    const [url] = urls
    if (!url) {
      // This request fails with the gateway's reason.
      await client.call(getFile, { params: { locker_id, filename }, signal })
      throw new Refusal('link_not_available', 'the file is being changed')
    }
    const { download_url, content_type, content_hash, size_bytes } = url
    const id = isPublic ? (await client.publicLink(locker, signal)).id : null
    const public_url = id && publicUrl(settings.gateway, id, filename)
    const publicText =
      id === null ? 'The public link is closed.' : `${public_url} does not expire. ${linkOpens(id, receipt_id)}`
    return {
      text: `${download_url} opens only this file, for ${durationText(urls_expire_in_sec)}.${isPublic ? ` ${publicText}` : ''}`,
      data: {
        filename,
        download_url,
        expires_in_sec: urls_expire_in_sec,
        public_url,
        content_type,
        content_hash,
        size_bytes,
      },
    }
  },
})
