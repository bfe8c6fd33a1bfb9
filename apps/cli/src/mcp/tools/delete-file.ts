import { Filename } from '@svc/api/file-entries'
import { lockerOf } from '@svc/sdk'
import Type from 'typebox'
import { requireOwner } from '../context.ts'
import { ReceiptId, STRICT, tool } from './tool.ts'

export const deleteFile = tool({
  name: 'delete_file',
  title: 'Delete a file from a locker',
  description:
    'Deletes one file for good: ask the user first. Statements that were made before still name it and its hash. ' +
    'Costs nothing and gives no money back.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: Type.Object({ receipt_id: ReceiptId, filename: Filename }, STRICT),
  output: Type.Object({
    receipt_id: Type.String(),
    filename: Type.String(),
    deleted: Type.Boolean(),
    bytes_removed: Type.Boolean({ description: 'False: a provider that never forgets still has the bytes.' }),
  }),
  async run(context, { receipt_id, filename }) {
    requireOwner(context)
    const { deleted, bytes_removed } = await context.client.remove(lockerOf(receipt_id), filename)
    return {
      text: `Deleted ${JSON.stringify(filename)}. \`attest\` commits to what is left.`,
      data: { receipt_id, filename, deleted, bytes_removed },
    }
  },
})
