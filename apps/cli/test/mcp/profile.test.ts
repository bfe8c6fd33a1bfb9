// `svc mcp` and the other commands share a profile: settings, wallet, pinned keys, lockers and payments.

import { mkdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { useHome } from '../host.ts'
import { codeOf, openServer, settingsIn, textOf } from './client.ts'
import { useShop } from './shop.ts'

const shop = useShop()
const home = useHome()

it('ADD-16 PAY-51 svc mcp uses the settings, wallet, lockers, payments and pinned keys of the profile', async () => {
  const { SVC_WALLET = '', SVC_GATEWAY = '', SVC_PRIMARY_RPC = '' } = await shop.variables('solana')
  await home.ok('config', 'set', 'gateway', SVC_GATEWAY)
  await home.ok('config', 'set', 'primary-rpc', SVC_PRIMARY_RPC)
  await home.ok('config', 'set', 'wallet', SVC_WALLET)
  await home.ok('keys', 'pin', shop.market.key)
  const { receipt_id } = await home.json('buy', '--asset', 'USDC', '--name', 'photos', '--yes')
  await home.ok('put', await home.write('photos', { 'cat.jpg': 'a cat' }))
  await home.ok('attest')

  const server = await openServer(await settingsIn(home.env, home.folder))
  expect(await server.call('purchase_status', { intent: 'photos' })).toMatchObject({ state: 'complete', receipt_id })
  expect(await server.call('list_lockers')).toMatchObject({ lockers: [{ receipt_id, name: 'photos' }] })
  expect(await server.call('verify', { receipt_id })).toMatchObject({ verdict: 'verified' })
  const before = await shop.market.treasury('USDC')
  expect(await server.call('buy', { units: 1, intent: 'photos' })).toMatchObject({ new_payment: false, receipt_id })
  expect(await shop.market.treasury('USDC')).toBe(before)
  await server.stop()
})

it('ADD-16 buy names the locker, which svc then finds, and pays a name once', async () => {
  const server = await openServer(await settingsIn(home.env, home.folder))
  const before = await shop.market.treasury('USDC')
  const order = { units: 1, name: 'from a model' }
  const bought = await server.call('buy', order)
  expect(bought).toMatchObject({ new_payment: true, intent: order.name })
  expect(await server.call('buy', order)).toMatchObject({ new_payment: false })
  const { lockers } = (await server.call('list_lockers')) as { lockers: object[] }
  expect(lockers).toContainEqual(expect.objectContaining({ receipt_id: bought.receipt_id, name: order.name }))
  expect((await home.ok('lockers')).stdout).toContain(order.name)
  const again = await server.ask('buy', { ...order, intent: 'another' })
  expect([codeOf(again), textOf(again)]).toEqual(['name_taken', expect.stringContaining(String(bought.receipt_id))])
  expect((await shop.market.treasury('USDC')) - before).toBe(250_000n)
  await server.stop()
})

it('T-197 svc mcp never spends from a wallet that the user has not named', async () => {
  const { SVC_WALLET = '' } = await shop.variables('solana')
  await home.ok('config', 'unset', 'wallet')
  await mkdir(home.path('.config/solana'), { recursive: true })
  await home.ok('wallet', 'import', SVC_WALLET, '--out', home.path('.config/solana/id.json'))
  await home.ok('config', 'unset', 'wallet')
  expect(await home.json('whoami')).toMatchObject({ wallets: [expect.anything()] })
  expect((await settingsIn(home.env, home.folder)).key).toBeNull()
})

it('T-197 svc mcp never reads the keys of any profile for a model', async () => {
  const { secrets } = await settingsIn({ ...home.env, SVC_MCP_STATE: home.path('state') }, home.folder)
  expect(secrets).toEqual([home.path('state'), home.path('config/svc')])
})
