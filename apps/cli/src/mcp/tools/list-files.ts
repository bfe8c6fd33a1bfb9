import { listFiles as endpoint, FileList } from '@svc/api/files'
import { lockerOf } from '@svc/sdk'
import Type from 'typebox'
import { requireOwner } from '../context.ts'
import { counted } from '../server/readable.ts'
import { DATA, PAGE, PAGE_SIZE, READS, ReceiptId, STRICT, tool } from './tool.ts'

export const listFiles = tool({
  name: 'list_files',
  title: 'Files of a locker',
  description: `Lists the files of a locker by name, with size, hash and status. ${DATA}`,
  annotations: READS,
  input: Type.Object(
    {
      receipt_id: ReceiptId,
      ...PAGE,
    },
    STRICT,
  ),
  output: FileList,
  async run(context, { receipt_id, limit = PAGE_SIZE, cursor }, { signal }) {
    requireOwner(context)
    const { locker_id } = lockerOf(receipt_id)
    const query = { limit, ...(cursor && { cursor }) }
    const { body } = await context.client.call(endpoint, { params: { locker_id }, query, signal })
    const more = body.next_cursor ? 'there are more: give next_cursor as cursor' : 'there are no more'
    return { text: `${counted(body.files.length, 'file')}; ${more}.`, data: body }
  },
})
