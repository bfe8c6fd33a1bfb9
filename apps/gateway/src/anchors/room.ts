import { ROLES } from '@svc/api/networks'
import type { Publishing } from '../attestations/publishing.ts'
import type { Secrets } from '../config.ts'
import type { Context } from '../context.ts'
import { createEvmRegistry, type EvmRegistry } from './evm-registry/client.ts'
import { createEntryQueue } from './evm-registry/queue-entry.ts'
import { openPublisher, type Publisher } from './publisher.ts'
import { createPush } from './push.ts'

export interface AnchorsContext extends Context, Publishing {
  publisher: Publisher | null
  /** Null where no registry of the EVM chain is configured. */
  evmRegistry: EvmRegistry | null
}

type AnchorSecrets = Pick<Secrets, 'rpcUrls' | 'evmRegistryKey'>

export function createAnchors(context: Context, secrets: AnchorSecrets): AnchorsContext {
  const { config, signers, queue } = context
  const publisher = openPublisher(config.anchors, signers.publication, {
    rpcUrls: secrets.rpcUrls.get(ROLES.publication) ?? [],
    quorum: config.payments.chains.get(ROLES.publication)?.quorum ?? 1,
  })
  const evmRegistry = openEvmRegistry(context, secrets)
  const queueEntry = createEntryQueue({ queue, evmRegistry })
  return { ...context, publisher, evmRegistry, queueEntry, push: createPush({ ...context, queueEntry }, publisher) }
}

function openEvmRegistry({ config }: Context, { rpcUrls, evmRegistryKey }: AnchorSecrets): EvmRegistry | null {
  if (!config.evmRegistry || !evmRegistryKey) return null
  const nodes = rpcUrls.get(ROLES.registry) ?? []
  return createEvmRegistry({ rpcUrls: nodes, privateKey: evmRegistryKey, contract: config.evmRegistry.contract })
}
