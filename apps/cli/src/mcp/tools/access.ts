import { changePublicLink } from '@svc/api/lockers'
import { lockerOf } from '@svc/sdk'
import Type from 'typebox'
import { requireOwner } from '../context.ts'
import { PUBLIC_LINK_OPENS } from '../explain/topics.ts'
import { ReceiptId, STRICT, tool } from './tool.ts'

const CHANGES = { readOnlyHint: false, destructiveHint: true, openWorldHint: true } as const

export const revokeUrls = tool({
  name: 'revoke_urls',
  title: 'Revoke all URLs of a locker',
  description:
    'Ends every short URL and upload session of the locker immediately, no matter who requested it. Use it for URLs that ' +
    'leaked. Files, operators and the public link stay as they are; `get_link` and `put_file` return new URLs.',
  annotations: { ...CHANGES, idempotentHint: true },
  input: Type.Object({ receipt_id: ReceiptId }, STRICT),
  output: Type.Object({ receipt_id: Type.String(), revoked: Type.Literal(true) }),
  async run(context, { receipt_id }, { signal }) {
    requireOwner(context)
    await context.client.revokeAccess(lockerOf(receipt_id), signal)
    return { text: 'All URLs and upload sessions have ended.', data: { receipt_id, revoked: true as const } }
  },
})

export const publicLink = tool({
  name: 'public_link',
  title: 'Rotate, close or open the public link',
  description:
    'Changes the public link, which lets anyone read the files of a locker. `rotate` makes a new id, and every earlier ' +
    'public address stops working permanently: use it when a receipt id has leaked. `close` closes the link; `open` ' +
    'opens a closed link with its previous id. `get_link` then returns the right address of a file.',
  annotations: { ...CHANGES, idempotentHint: false },
  input: Type.Object({ receipt_id: ReceiptId, action: changePublicLink.body.properties.action }, STRICT),
  output: Type.Object({
    receipt_id: Type.String(),
    ...changePublicLink.responses[200].properties.public_link.properties,
  }),
  async run(context, { receipt_id, action }, { signal }) {
    requireOwner(context)
    const link = await context.client.changePublicLink(lockerOf(receipt_id), action, signal)
    const { id } = link
    const text =
      id === null ? 'The public link is closed.' : `The id of the public link is ${id}. ${linkOpens(id, receipt_id)}`
    return { text, data: { receipt_id, ...link } }
  },
})

/** What a public link opens. A rotated link does not name the receipt, so it does not lead to the evidence. */
export function linkOpens(id: string, receiptId: string): string {
  return id === receiptId
    ? PUBLIC_LINK_OPENS
    : 'Anyone with this link can open every file in the locker whose name they know.'
}
