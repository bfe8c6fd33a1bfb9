import { readFileSync } from 'node:fs'
import { forEachDatabase } from '@svc/devnet/databases'
import { countRows, tableNames } from '@svc/devnet/table-names'
import type { Kysely } from 'kysely'
import { describe, expect, it } from 'vitest'
import { migrations } from '../src/db/migrations.ts'
import type { Schema } from '../src/db/schema.ts'
import { useAgentStack } from './agent-stack.ts'

const GATEWAY_DOCUMENT = new URL('../../../docs/gateway.md', import.meta.url)

forEachDatabase('the tables of the agent service', (database) => {
  it('T-53 each is listed in docs/gateway.md with its bound or its sweep', async () => {
    const { db } = await database.open<Schema>(migrations)
    const [, section = ''] = readFileSync(GATEWAY_DOCUMENT, 'utf8').split('### Tables of the agent service\n')
    const rows = section.split('\n#')[0]!.split('\n')
    const listed = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
    expect(listed.sort()).toEqual((await tableNames(db as Kysely<unknown>)).sort())
  })
})

describe("a day of strangers' requests to the agent service", () => {
  const stack = useAgentStack(() => ({ TRUSTED_PROXIES: '127.0.0.1,::1' }))

  const rowCounts = () => countRows(stack.agent.context.database.db as Kysely<unknown>)

  async function strangers(address: string): Promise<void> {
    const identity = { 'x-svc-identity': `0x${'ab'.repeat(20)}` }
    const headers = { 'x-forwarded-for': address, 'content-type': 'application/json', ...identity }
    const send = async (method: string, path: string, body?: object) => {
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const answer = await fetch(stack.agent.url + path, init)
      return [answer.status, ((await answer.json()) as { error?: string }).error]
    }
    expect(await send('GET', '/v1/service/request')).toEqual([402, expect.stringContaining('Payment required')])
    const confirmation = { pay_req_id: 'pr_unknown', tx_sig: `0x${'1'.repeat(64)}` }
    expect(await send('POST', '/v1/service/confirm', confirmation)).toEqual([404, 'pay_req_not_found'])
    const delegation = { receipt_id: 'rcpt_unknown', locker_id: 'locker_0' }
    expect(await send('POST', '/v1/delegate', delegation)).toEqual([422, 'validation_error'])
    expect(await send('GET', '/v1/delegations')).toEqual([401, 'MISSING_ENVELOPE'])
  }

  it('T-53 leaves quotes only, and those are deleted when no payment of theirs can be confirmed', {
    tags: ['nightly'],
  }, async () => {
    const { queue } = stack.agent.context
    await queue.drain()
    const before = await rowCounts()
    for (let step = 0; step < 8; step++) {
      for (let i = 0; i < 5; i++) await strangers(`198.51.${step}.${i}`)
      stack.clock.advance(3 * 3600)
      await queue.drain()
    }
    expect(await rowCounts()).toEqual({ ...before, pay_requests: before.pay_requests! + 40 })
    stack.clock.advance(92 * 86_400)
    await queue.drain()
    expect(await rowCounts()).toEqual(before)
  })
})
