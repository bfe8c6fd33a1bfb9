// @module-tag nightly

// The MCP server over stdio, as a client starts it, with a real gateway and local chains.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { programEnvironment } from '@svc/devnet/start-process'
import { fromBase58 } from '@svc/protocol/bytes'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useNpmStart } from './npm-start.ts'

const main = fileURLToPath(new URL('../apps/cli/bin/svc-mcp.mjs', import.meta.url))

const service = useNpmStart()
let folder: string
let client: Client | undefined
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-acceptance-'))
  client = await connect()
})
afterAll(async () => {
  await client?.close()
  await rm(folder, { recursive: true })
})

/** Like the settings of an MCP client: a command and an environment. */
async function connect(): Promise<Client> {
  const wallet = join(folder, 'id.json')
  const { privateKeyBytes, address } = DEMO_PAYERS[0]!
  await writeFile(wallet, JSON.stringify([...privateKeyBytes, ...fromBase58(address, 32)!]), { mode: 0o600 })
  await mkdir(join(folder, 'project'))
  const env = programEnvironment({
    HOME: folder,
    SVC_GATEWAY: service.gateway,
    SVC_AGENT: service.agent,
    SVC_PRIMARY_RPC: service.primaryChain,
    SVC_WALLET: wallet,
    SVC_MCP_ROOT: join(folder, 'project'),
    SVC_MCP_MAX_USD: '5',
    SVC_MCP_MAX_USD_PER_DAY: '6',
  })
  const connected = new Client({ name: 'acceptance', version: '1' })
  await connected.connect(new StdioClientTransport({ command: process.execPath, args: [main], env, stderr: 'ignore' }))
  // From here on the client validates results against the listed schemas.
  await connected.listTools()
  return connected
}

async function ask(name: string, input: object = {}): Promise<CallToolResult> {
  return (await client?.callTool({ name, arguments: { ...input } })) as CallToolResult
}

async function call(name: string, input: object = {}): Promise<Record<string, unknown>> {
  const { isError, structuredContent, content } = await ask(name, input)
  expect(isError, `${name} ${JSON.stringify(content)}`).toBeFalsy()
  return structuredContent as Record<string, unknown>
}

it('GEN-09 PAY-51 buys, uploads, attests and verifies with tools alone', async () => {
  await writeFile(join(folder, 'project', 'notes.txt'), 'notes of an agent')
  const price = await call('quote', { units: 1 })
  expect(price.prices).toContainEqual(expect.objectContaining({ asset: 'USDC', amount: '0.25' }))

  const bought = await call('buy', { units: 1 })
  expect(bought).toMatchObject({ new_payment: true, paid: { amount: '0.25', asset: 'USDC' } })
  expect(await call('buy', { units: 1 })).toEqual({ ...bought, new_payment: false })

  const { receipt_id } = bought
  const put = await call('put_file', { receipt_id, filename: 'a/notes.txt', path: 'notes.txt' })
  expect(put).toMatchObject({ stored: true, size_bytes: 17 })
  const { files } = await call('list_files', { receipt_id })
  expect(files).toMatchObject([{ filename: 'a/notes.txt', status: 'confirmed', content_hash: put.content_hash }])
  const { download_url } = await call('get_link', { receipt_id, filename: 'a/notes.txt' })
  expect(await (await fetch(String(download_url))).text()).toBe('notes of an agent')

  expect(await call('attest', { receipt_id })).toMatchObject({ sequence: 1, file_count: 1, publication: 'pushed' })
  const { facts, failed } = await call('verify', { receipt_id })
  expect(failed).toEqual([])
  for (const fact of ['receipt_signed', 'payment_on_chain', 'merkle_root_matches', 'signature_valid'])
    expect(facts).toContainEqual(expect.objectContaining({ fact, value: 'passed' }))
  for (const fact of ['anchor_tx_succeeded', 'anchor_payload_matches'])
    expect(facts).toContainEqual(expect.objectContaining({ fact, value: 'passed' }))
  expect(await call('explain', { about: 'key_pinned' })).toMatchObject({ kind: 'fact' })
})

it('AGENT-01 AGENT-04 buys thirty days of the agent service within the limit of the day, and delegates', async () => {
  const { purchases } = await call('purchase_status')
  const [{ intent }] = purchases as [{ intent: string }]
  const { receipt_id } = await call('purchase_status', { intent })
  expect(await call('subscribe')).toMatchObject({ new_payment: true, paid: { amount: '5', asset: 'USDC' } })
  const { delegation_id } = await call('delegate', { receipt_id })
  // The second call checks immediately whether the key was added.
  expect(await call('delegate', { receipt_id })).toMatchObject({ delegation_id })
  const status = async () => (await call('agent_status', { delegation_id })).delegations
  await expect.poll(status, { interval: 500 }).toMatchObject([{ status: 'active', receipt_id }])
  const refused = await ask('subscribe', { intent: 'thirty more' })
  expect(refused).toMatchObject({ isError: true, _meta: { 'svc/error': { code: 'over_day_limit' } } })
})
