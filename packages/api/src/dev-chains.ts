// The local chains of a gateway in development mode. No part of the interface: other gateways answer 404.

import Type, { type Static } from 'typebox'
import { coinOf } from './assets.ts'
import { endpoint } from './endpoint.ts'
import { EVM, PRIMARY } from './networks.ts'
import { NO_STORE, Words } from './wire.ts'

/** What is given where nothing else is asked for: enough for many lockers. */
export const DEV_GIFTS = {
  solana: { [coinOf(PRIMARY).ticker]: '10', USDC: '100' },
  eip155: { [coinOf(EVM).ticker]: '100', USDC: '100' },
} as const

export const GivenCoins = Type.Object(
  { given: Type.Record(Type.String(), Type.String({ description: 'In display units, by ticker.' })) },
  { title: 'GivenCoins' },
)
export type GivenCoins = Static<typeof GivenCoins>

export const giveCoins = endpoint({
  name: 'giveCoins',
  method: 'POST',
  // Each gives again.
  repeatable: false,
  path: '/dev/chains/faucet',
  auth: 'public',
  summary: 'Coins and tokens without value, on the local chains',
  body: Type.Object({
    namespace: Words(['solana', 'eip155']),
    address: Type.String({ maxLength: 100 }),
  }),
  responses: { 200: GivenCoins },
  headers: NO_STORE,
  errors: ['chain_unavailable', 'RATE_LIMITED', 'validation_error'],
})
