// The local chains of a gateway in development mode. They are not part of the interface: other gateways answer 404.

import Type, { type Static } from 'typebox'
import { coinOf } from './assets.ts'
import { endpoint } from './endpoint.ts'
import { EVM, PRIMARY } from './networks.ts'
import { NO_STORE, Words } from './wire.ts'

/** The default amounts: enough for many lockers. */
export const DEV_GIFTS = {
  solana: { [coinOf(PRIMARY).ticker]: '10', USDC: '100' },
  eip155: { [coinOf(EVM).ticker]: '100', USDC: '100' },
} as const

export const GivenCoins = Type.Object(
  { given: Type.Record(Type.String(), Type.String({ description: 'The amount of each ticker, in display units.' })) },
  { title: 'GivenCoins' },
)
export type GivenCoins = Static<typeof GivenCoins>

export const giveCoins = endpoint({
  name: 'giveCoins',
  method: 'POST',
  // Every call gives more coins.
  repeatable: false,
  path: '/dev/chains/faucet',
  auth: 'public',
  summary: 'Get worthless coins and tokens on the local chains',
  body: Type.Object({
    namespace: Words(['solana', 'eip155']),
    address: Type.String({ maxLength: 100 }),
  }),
  responses: { 200: GivenCoins },
  headers: NO_STORE,
  errors: ['chain_unavailable', 'RATE_LIMITED', 'validation_error'],
})
