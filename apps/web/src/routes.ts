// All pages: each has a path, like an endpoint, and a module that renders it, loaded on first use. The gateway serves
// the document at these paths. Node also reads this file, so it imports nothing.

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

/** Wallets provide their icons as data: URLs. */
const WALLET_POLICY = { 'img-src': "'self' data:" }

/**
 * The pages for buying and for lockers share a policy, and thereby a document: the wallet that paid stays connected.
 * Some storage providers exchange bytes with the browser directly: the gateway redirects to them, and inserts their
 * origins here (SHORT-09).
 */
const LOCKER_POLICY = { ...WALLET_POLICY, 'connect-src': "'self' {storage}" }

/** Visitors name nodes and bundle addresses themselves; a worker does all the work. */
const VERIFY = {
  policy: {
    'connect-src': "'self' https: http://localhost:* http://127.0.0.1:*",
    'worker-src': "'self'",
    'trusted-types': 'svc-worker',
  },
  load: () => import('./pages/verify/verify.tsx'),
}

/**
 * Pictures are shown from memory, and PDF files are drawn by a worker. No part of a file ever becomes part of the
 * document.
 */
const VIEW_POLICY = {
  'img-src': "'self' blob:",
  'media-src': "'self'",
  'worker-src': "'self'",
  'trusted-types': 'svc-worker',
}

/** The agent service has its own origin, which the index of the gateway names. */
const AGENT_POLICY = { ...WALLET_POLICY, 'connect-src': "'self' https: http://localhost:* http://127.0.0.1:*" }

export const ROUTES: readonly Route[] = [
  { path: '/', load: () => import('./pages/welcome/welcome.tsx') },
  { path: '/buy', policy: LOCKER_POLICY, load: () => import('./pages/buy/buy.tsx') },
  { path: '/locker', policy: LOCKER_POLICY, load: () => import('./pages/locker/lockers.tsx') },
  { path: '/locker/{locker_id}', policy: LOCKER_POLICY, load: () => import('./pages/locker/locker.tsx') },
  { path: '/verify', ...VERIFY },
  { path: '/verify/{receipt_id}', ...VERIFY },
  { path: '/view/{receipt_id}/{+filename}', policy: VIEW_POLICY, load: () => import('./pages/view/view.tsx') },
  { path: '/s/{share_id}', policy: VIEW_POLICY, load: () => import('./pages/share/share.tsx') },
  { path: '/log', load: () => import('./pages/log/log.tsx') },
  { path: '/agent', policy: AGENT_POLICY, load: () => import('./pages/agent/agent.tsx') },
  { path: '/docs', load: () => import('./pages/api/api.tsx') },
  { path: '/errors', load: () => import('./pages/errors/errors.tsx') },
  { path: '/errors/{code}', load: () => import('./pages/errors/errors.tsx') },
  { path: '/admin', load: () => import('./pages/admin/admin.tsx') },
]
