"""Findings with their advice: each stands once, with the servers that it was found on."""

from collections.abc import Iterable, Sequence

from exporter.health.findings.shape import Finding, Severity
from exporter.web.status.columns import server_link
from exporter.web.status.markup import NOTHING, Html, fill, join, link, prose
from exporter.web.status.rows import SITES, Context, Row

MOST_SERVERS = 10
"""That are named at a finding; with more of them, the others are a link."""
_SECTION = """<section aria-labelledby="findings">
<h2 id="findings">Findings</h2>
<div class="advice">
{groups}
</div>
{ignored}
</section>"""
_IGNORED = "<p>Ignored, as <code>findings.ignore</code> says: {names}</p>"
_GROUP = """<article class="finding {severity}">
<h3><b class="{severity}">{severity}</b> {name}</h3>
<ul>
{servers}
</ul>
<dl>
<dt>Why it matters</dt><dd>{why}</dd>
<dt>What changes it{example}</dt><dd>{remedy}</dd>
<dt>When to leave it</dt><dd>{leave}</dd>
{runbook}
</dl>
</article>"""
_SEEN = "<li>{server}: {seen}</li>"
_MORE = "<li>{more}</li>"
_RUNBOOK = "<dt>Runbook</dt><dd>{runbook}</dd>"

Found = tuple[Row, Finding]


def advice(rows: Iterable[Row], context: Context) -> Html:
    """Return the section of findings, the worst first and then the most frequent, if any."""
    found: dict[tuple[Severity, str], list[Found]] = {}
    for row in rows:
        for finding in row.findings:
            found.setdefault((finding.severity, finding.name), []).append((row, finding))
    worst_first = list(reversed(Severity))
    ordered = sorted(found.items(), key=lambda item: (worst_first.index(item[0][0]), -len(item[1])))
    groups = join(_group(same, context) for _, same in ordered)
    names = ", ".join(sorted(context.ignored))
    ignored = fill(_IGNORED, names=names) if names else NOTHING
    return fill(_SECTION, groups=groups, ignored=ignored) if groups or ignored else NOTHING


def _group(found: Sequence[Found], context: Context) -> Html:
    row, finding = found[0]
    several = len({finding.remedy for _, finding in found}) > 1
    return fill(
        _GROUP,
        severity=finding.severity,
        name=finding.name,
        servers=_servers(found, context),
        why=prose(finding.why),
        example=f" (numbers of {row.state.address})" if several else "",
        remedy=prose(finding.remedy),
        leave=prose(finding.leave),
        runbook=_runbook(finding, context),
    )


def _servers(found: Sequence[Found], context: Context) -> Html:
    shown = [
        fill(_SEEN, server=server_link(row, context), seen=prose(finding.seen))
        for row, finding in found[:MOST_SERVERS]
    ]
    more = len(found) - MOST_SERVERS
    if more > 0:
        name = found[0][1].name
        text = f"and {more} more"
        shown.append(fill(_MORE, more=link(context.path("/"), text, finding=name, rows="all")))
    return join(shown)


def _runbook(finding: Finding, context: Context) -> Html:
    """Return a link where the configuration says on what site runbooks are, else their place."""
    if not finding.runbook:
        return NOTHING
    place = f"{context.runbooks}/{finding.runbook}.md"
    on_site = place.startswith(SITES)
    runbook = link(place, finding.runbook) if on_site else fill("<code>{place}</code>", place=place)
    return fill(_RUNBOOK, runbook=runbook)
