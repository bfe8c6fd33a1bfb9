import { Filename } from '@svc/api/file-entries'
import { lockerOf } from '@svc/sdk'
import Type from 'typebox'
import { requireOwner } from '../context.ts'
import { ReceiptId, STRICT, tool } from './tool.ts'

export const deleteFile = tool({
  name: 'delete_file',
  title: 'Delete a file from a locker',
  description:
    'Deletes a file permanently: ask the user first. Earlier statements still contain its name and hash. Refunds nothing.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: Type.Object({ receipt_id: ReceiptId, filename: Filename }, STRICT),
  output: Type.Object({
    receipt_id: Type.String(),
    filename: Type.String(),
    deleted: Type.Boolean(),
    bytes_removed: Type.Boolean({ description: 'False: the provider cannot delete, and still has the bytes.' }),
  }),
  async run(context, { receipt_id, filename }) {
    requireOwner(context)
    const { deleted, bytes_removed } = await context.client.remove(lockerOf(receipt_id), filename)
    return {
      text: `Deleted ${JSON.stringify(filename)}. \`attest\` commits to the remaining files.`,
      data: { receipt_id, filename, deleted, bytes_removed },
    }
  },
})
