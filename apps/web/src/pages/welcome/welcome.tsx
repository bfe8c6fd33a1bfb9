import { useEffect } from 'preact/hooks'
import { texts as frame } from '#texts/frame'
import { texts as t } from '#texts/welcome'
import { urlOf } from '../../address.ts'
import { PriceCalculator } from '../../price/calculator.tsx'
import { SearchBox } from '../../search/search-box.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Numbers } from './numbers.tsx'
import { Picture } from './picture.tsx'
import { Verdicts } from './verdicts.tsx'
import { Ways } from './ways.tsx'
import './welcome.css'

export default function Welcome() {
  useEffect(() => {
    document.title = frame.name
  }, [])
  return (
    <div class="wide welcome">
      <section class="hero">
        <div class="hero-text">
          <h1>{t.title}</h1>
          <p class="lead">{t.lead}</p>
          <div class="row">
            <a class="button button-primary" href={urlOf('/buy')}>
              {t.buy}
              <Icon name="arrow" />
            </a>
            <a class="button" href="#ways">
              {t.seeWays}
            </a>
          </div>
        </div>
        <Picture />
      </section>
      <Numbers />
      <SearchBox />
      <PriceCalculator
        action={({ units, provider }) => (
          <a class="button button-primary" href={urlOf(`/buy#${buyHash(units, provider)}`)}>
            {t.buy}
            <Icon name="arrow" />
          </a>
        )}
      />
      <Verdicts />
      <Ways />
    </div>
  )
}

function buyHash(units: number, provider: string): string {
  return `units=${units}${provider && `&provider=${encodeURIComponent(provider)}`}`
}
