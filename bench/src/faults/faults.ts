// The faults besides killed gateways: each begins, lasts for a while and ends.

import { setTimeout } from 'node:timers/promises'
import { honestly } from '@svc/devnet/faulty-node'
import type { Ledger } from '../mixed/ledger.ts'
import type { Random } from '../mixed/random.ts'
import { disconnect, lying } from './node-lies.ts'
import { restoreDatabase } from './restore.ts'
import type { Testbed } from './testbed.ts'

interface Fault {
  name: FaultName
  /** Why this fault is impossible here; null when it is possible. */
  obstacle(testbed: Testbed): string | null
  /** Resolves when the fault is over. */
  happen(testbed: Testbed, random: Random, ledger: Ledger): Promise<void>
}

export const FAULT_NAMES = ['postgres', 'rpc-cut', 'rpc-lies', 'provider', 'disk', 'clock', 'restore'] as const
export type FaultName = (typeof FAULT_NAMES)[number]

const none = () => null
const aWhile = (random: Random) => setTimeout(random.between(300, 2500))
const SECOND = 1000

export const FAULTS: Record<FaultName, Fault> = {
  postgres: {
    name: 'postgres',
    obstacle: ({ postgres }) => (postgres ? null : 'the engine is SQLite'),
    async happen({ postgres }, random) {
      postgres?.kill()
      await aWhile(random)
      await postgres?.start()
    },
  },

  'rpc-cut': {
    name: 'rpc-cut',
    obstacle: none,
    async happen({ nodes }, random) {
      const chain = random.pick([nodes.primary, nodes.evm])
      for (const node of chain.slice(0, random.between(1, chain.length))) node.behave(disconnect(random))
      await aWhile(random)
      for (const node of chain) node.behave(honestly)
    },
  },

  'rpc-lies': {
    name: 'rpc-lies',
    obstacle: none,
    async happen({ nodes }, random) {
      const node = random.pick(random.pick([nodes.primary, nodes.evm]))
      node.behave(lying(random))
      await aWhile(random)
      await aWhile(random)
      node.behave(honestly)
    },
  },

  provider: {
    name: 'provider',
    obstacle: none,
    async happen({ storj }, random) {
      await storj.stop()
      await aWhile(random)
      await storj.start()
    },
  },

  disk: {
    name: 'disk',
    obstacle: ({ disk }) => (disk ? null : 'a small disk can be mounted by root only'),
    async happen({ disk }, random) {
      await disk?.fill()
      await aWhile(random)
      await disk?.free()
    },
  },

  clock: {
    name: 'clock',
    obstacle: none,
    async happen({ replicas }, random) {
      const replica = random.pick(replicas)
      const jumpMs = random.pick([-7200, -600, -90, 90, 600, 7200]) * SECOND
      await replica.start({ clock: { jumpMs, afterMs: 1500 } })
      await aWhile(random)
      await setTimeout(1500)
      await replica.start()
    },
  },

  restore: { name: 'restore', obstacle: none, happen: restoreDatabase },
}
