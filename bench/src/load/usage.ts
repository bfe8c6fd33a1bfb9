// Memory and descriptors of all processes of a gateway over time. Only Linux reports them.

import { existsSync, readdirSync, readFileSync } from 'node:fs'

interface Sample {
  seconds: number
  mebibytes: number
  descriptors: number
}

interface UsageWatch {
  stop(): UsageReport | null
}

export interface UsageReport {
  /** In the middle of the run and at its end. */
  mebibytes: { middle: number; end: number; slopePerHour: number }
  descriptors: { middle: number; end: number; slopePerHour: number }
}

const EVERY_MS = 1_000

export function watchUsage(pid: number): UsageWatch {
  const samples: Sample[] = []
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const sample = sampleOf(pid, (performance.now() - startedAt) / 1000)
    if (sample) samples.push(sample)
  }, EVERY_MS)
  return {
    stop() {
      clearInterval(timer)
      return samples.length < 4 ? null : reportOf(samples)
    },
  }
}

/** Ignores the first half, in which caches fill up and code is compiled. */
function reportOf(samples: readonly Sample[]): UsageReport {
  const later = samples.slice(samples.length >> 1)
  const series = (value: (sample: Sample) => number) => {
    const quarter = Math.max(1, later.length >> 2)
    const mean = (of: readonly Sample[]) => of.reduce((sum, sample) => sum + value(sample), 0) / of.length
    return {
      middle: mean(later.slice(0, quarter)),
      end: mean(later.slice(-quarter)),
      slopePerHour: slope(later, value),
    }
  }
  return { mebibytes: series(({ mebibytes }) => mebibytes), descriptors: series(({ descriptors }) => descriptors) }
}

/** The slope by least squares. */
function slope(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length
  const [time, height] = [mean(({ seconds }) => seconds), mean(value)]
  const above = mean((sample) => (sample.seconds - time) * (value(sample) - height))
  const below = mean(({ seconds }) => (seconds - time) ** 2)
  return (above / below) * 3600
}

function sampleOf(pid: number, seconds: number): Sample | null {
  if (!existsSync(`/proc/${pid}/fd`)) return null
  const sample: Sample = { seconds, mebibytes: 0, descriptors: 0 }
  for (const member of familyOf(pid)) {
    try {
      sample.mebibytes +=
        Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${member}/status`, 'utf8'))?.[1] ?? 0) / 1024
      sample.descriptors += readdirSync(`/proc/${member}/fd`).length
    } catch {
      // The process has ended meanwhile.
    }
  }
  return sample
}

function familyOf(pid: number): number[] {
  const children = (parent: number): number[] => {
    try {
      const text = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
      return text.split(' ').filter(Boolean).map(Number)
    } catch {
      return []
    }
  }
  return [pid, ...children(pid).flatMap(familyOf)]
}
