import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startServer, useDesk } from './client.ts'

const desk = useDesk()

it('ADD-16 list_lockers without a key lists the lockers of this gateway that the command line remembers', async () => {
  const state = join(desk.root, '..', 'remembered')
  await mkdir(join(state, 'lockers'), { recursive: true })
  const remember = (digit: string, text: string) =>
    writeFile(join(state, 'lockers', `rcpt_${digit.repeat(32)}.json`), text)
  const locker = (digit: string, gateway: string, name: string | null) =>
    JSON.stringify({ receipt_id: `rcpt_${digit.repeat(32)}`, locker_id: 'x', gateway, owner: null, name, added_at: '' })
  const gateway = 'http://127.0.0.1:9'
  await remember('a', locker('a', gateway, 'shared'))
  await remember('b', locker('b', 'https://other.example', 'elsewhere'))
  await remember('c', '{')
  await remember('d', JSON.stringify({ ...JSON.parse(locker('d', gateway, 'photos')), operator: 'of 1.1.0' }))
  const server = await startServer('memory', desk, { SVC_GATEWAY: gateway, SVC_MCP_STATE: state })
  expect(await server.call('list_lockers')).toEqual({
    wallet: null,
    lockers: [],
    remembered: [{ name: 'shared', receipt_id: `rcpt_${'a'.repeat(32)}` }],
  })
  await server.stop()
})
