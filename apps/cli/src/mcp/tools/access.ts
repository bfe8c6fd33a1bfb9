import { changePublicLink } from '@svc/api/lockers'
import { lockerOf } from '@svc/sdk'
import Type from 'typebox'
import { requireOwner } from '../context.ts'
import { PUBLIC_LINK_OPENS } from '../explain/topics.ts'
import { ReceiptId, STRICT, tool } from './tool.ts'

const Action = Type.Enum(changePublicLink.body.properties.action.enum, { description: 'What happens to the link.' })

const CHANGES = { readOnlyHint: false, destructiveHint: true } as const

export const revokeUrls = tool({
  name: 'revoke_urls',
  title: 'Revoke all URLs of a locker',
  description:
    'Ends every temporary link and upload session of a locker at once, for example after a leak. Files, operators and ' +
    'the public link stay.',
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
    'Changes the public link, by which anyone can read the files of a locker: `rotate` makes a new id and ends every ' +
    'earlier address permanently (for a leaked receipt_id), `close` closes it, `open` opens it with its previous id.',
  annotations: { ...CHANGES, idempotentHint: false },
  input: Type.Object({ receipt_id: ReceiptId, action: Action }, STRICT),
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
