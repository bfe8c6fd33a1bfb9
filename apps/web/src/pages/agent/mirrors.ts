import type { Delegation } from '@svc/api/agent/delegations'

export interface MirrorView {
  filename: string
  url: string
  state: 'ok' | 'waiting' | 'failing' | 'unknown'
  /** The reason why the address cannot be fetched. */
  reason: string | null
}

/**
 * The status of each mirrored address. A failure is a signed finding, recorded once until the address can be fetched
 * again. Only the counts of later runs, for all addresses together, show a recovery.
 */
export function mirrorViews({ tasks, log, runs }: Pick<Delegation, 'tasks' | 'log' | 'runs'>): MirrorView[] {
  const lastRun = runs.find(({ task, outcome }) => task === 'mirror' && outcome === 'done')
  return (tasks.mirror?.sources ?? []).map(({ filename, url }) => {
    const last = log.findLast(
      ({ kind, detail }) => isMirror(kind) && detail.filename === filename && detail.url === url,
    )
    const hasFailed = last?.kind === 'mirror_failed'
    if (!lastRun) return { filename, url, state: hasFailed ? 'failing' : 'waiting', reason: reasonOf(last) }
    if (!hasFailed) return { filename, url, state: 'ok', reason: null }
    // A later run without any failure has fetched it.
    if (!lastRun.summary.failed) return { filename, url, state: 'ok', reason: null }
    const sources = tasks.mirror?.sources.length
    const isCertain = sources === 1 || lastRun.summary.failed === sources || last.at >= lastRun.started_at
    return { filename, url, state: isCertain ? 'failing' : 'unknown', reason: reasonOf(last) }
  })
}

function isMirror(kind: string): boolean {
  return kind === 'mirror_failed' || kind === 'mirror_changed'
}

function reasonOf(finding: Delegation['log'][number] | undefined): string | null {
  const reason = finding?.kind === 'mirror_failed' ? finding.detail.reason : null
  return typeof reason === 'string' ? reason : null
}
