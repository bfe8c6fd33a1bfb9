import { signal } from '@preact/signals'
import type { ConnectedWallet } from './wallet.ts'

/** The wallet that was connected last. It stays connected from paying to opening the locker, until the page is locked. */
export const connectedWallet = signal<ConnectedWallet | null>(null)
