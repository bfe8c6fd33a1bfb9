import type { Service } from './service.ts'

/** Requests in flight are finished, for a while; connections that nobody says anything on do not count as idle. */
export async function closeService({ app }: Service, { graceMs }: { graceMs: number }): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs)
  try {
    await app.close()
  } finally {
    clearTimeout(timer)
  }
}
