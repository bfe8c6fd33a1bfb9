import { Filename, TtlMinutes } from '@svc/api/file-entries'
import { fileUrls, getFile } from '@svc/api/files'
import { lockerOf, publicUrl } from '@svc/sdk'
import Type from 'typebox'
import { requireOwner } from '../context.ts'
import { Refusal } from '../errors.ts'
import { PUBLIC_LINK_OPENS } from '../explain/topics.ts'
import { linkOpens } from './access.ts'
import { READS, ReceiptId, STRICT, tool } from './tool.ts'

export const getLink = tool({
  name: 'get_link',
  title: 'Share a file by a link',
  description:
    'Shares a file by an address that opens only this file and works for a few minutes. The content is not returned: ' +
    'open or share the link. With `public` also the public address, which opens the complete locker to anyone until the ' +
    'owner rotates or closes it: use it only if the user asks for that.',
  annotations: { ...READS, idempotentHint: false },
  input: Type.Object(
    {
      receipt_id: ReceiptId,
      filename: Filename,
      ttl_min: Type.Optional(TtlMinutes),
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
  async run(context, { receipt_id, filename, ttl_min, public: isPublic = false }, { signal }) {
    requireOwner(context)
    const { client, settings } = context
    const locker = lockerOf(receipt_id)
    const { locker_id } = locker
    const body = { filenames: [filename], ...(ttl_min !== undefined && { ttl_min }) }
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
      text: `${download_url} works for ${urls_expire_in_sec} seconds.${isPublic ? ` ${publicText}` : ''}`,
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
