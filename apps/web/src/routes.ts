// Every page: its path, as endpoints declare theirs, and the module that draws it, loaded when it is first shown. The
// gateway serves the document at these paths. Node reads this file, too, so it imports nothing.

import type { ComponentType } from 'preact'

export interface PageProps {
  /** The values of `{name}` in the path. */
  params: Readonly<Record<string, string>>
}

export interface Route {
  path: string
  /** Directives of its Content-Security-Policy that differ from those of the other pages (apps/gateway/src/pages). */
  policy?: Readonly<Record<string, string>>
  load: () => Promise<{ default: ComponentType<PageProps> }>
}

/** Wallets bring their pictures as data: URLs. */
const WALLET_POLICY = { 'img-src': "'self' data:" }

/** The agent service has an origin of its own, which the index of the gateway names. */
const AGENT_POLICY = { ...WALLET_POLICY, 'connect-src': "'self' https: http://localhost:* http://127.0.0.1:*" }

export const ROUTES: readonly Route[] = [
  { path: '/', load: () => import('./pages/welcome/welcome.tsx') },
  { path: '/agent', policy: AGENT_POLICY, load: () => import('./pages/agent/agent.tsx') },
  { path: '/buy', policy: WALLET_POLICY, load: () => import('./pages/buy/buy.tsx') },
  { path: '/docs', load: () => import('./pages/api/api.tsx') },
  { path: '/locker', policy: WALLET_POLICY, load: () => import('./pages/locker/lockers.tsx') },
  { path: '/locker/{locker_id}', policy: WALLET_POLICY, load: () => import('./pages/locker/locker.tsx') },
]
