import { ROLES } from '@svc/api/networks'
import type { Secrets } from '../config.ts'
import type { Context } from '../context.ts'
import { createEvmRegistry, type EvmRegistry } from './evm-registry/client.ts'
import { createEntryQueue } from './evm-registry/queue-entry.ts'
import { openPublisher, type Publisher } from './publisher.ts'
import type { Push, QueueEntry } from './publishing.ts'
import { createPush } from './push.ts'

interface PublicationState {
  /** Null where nothing is published on the primary chain. */
  publisher: Publisher | null
  /** Null where no registry of the EVM chain is configured. */
  evmRegistry: EvmRegistry | null
  /** Null where there is none. */
  queueEntry: QueueEntry | null
  push: Push
}

declare module '../context.ts' {
  interface Context extends PublicationState {}
}

type AnchorSecrets = Pick<Secrets, 'rpcUrls' | 'evmRegistryKey'>

export function openPublication(context: Context, secrets: AnchorSecrets): PublicationState {
  const { config, signers, queue } = context
  const publisher = openPublisher(config.anchors, signers.publication, {
    rpcUrls: secrets.rpcUrls.get(ROLES.publication) ?? [],
    quorum: config.payments.chains.get(ROLES.publication)?.quorum ?? 1,
  })
  const evmRegistry = openEvmRegistry(context, secrets)
  const queueEntry = createEntryQueue({ queue, evmRegistry })
  return { publisher, evmRegistry, queueEntry, push: createPush({ ...context, queueEntry }, publisher) }
}

function openEvmRegistry({ config }: Context, { rpcUrls, evmRegistryKey }: AnchorSecrets): EvmRegistry | null {
  if (!config.evmRegistry || !evmRegistryKey) return null
  const nodes = rpcUrls.get(ROLES.registry) ?? []
  return createEvmRegistry({ rpcUrls: nodes, privateKey: evmRegistryKey, contract: config.evmRegistry.contract })
}
