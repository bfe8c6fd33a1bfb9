import type { SlowRoutes } from '@svc/api/operations'
import type { Context } from '../../context.ts'
import { percentile, type RouteTimes } from '../metrics/http.ts'

const ROUTES = 50

export async function slowRoutes(
  { metrics: { routeTimes } }: Pick<Context, 'metrics'>,
  limit = ROUTES,
): Promise<SlowRoutes> {
  const routes = (await routeTimes()).filter(({ requests }) => requests > 0).map(inMilliseconds)
  routes.sort((a, b) => b.p95_ms - a.p95_ms || b.mean_ms - a.mean_ms)
  return { routes: routes.slice(0, limit) }
}

function inMilliseconds(times: RouteTimes): SlowRoutes['routes'][number] {
  const { method, route, requests, serverErrors, seconds } = times
  return {
    method,
    route,
    requests,
    server_errors: serverErrors,
    mean_ms: Math.round((seconds / requests) * 1e6) / 1000,
    p50_ms: percentile(times, 0.5) * 1000,
    p95_ms: percentile(times, 0.95) * 1000,
    p99_ms: percentile(times, 0.99) * 1000,
  }
}
