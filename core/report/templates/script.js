(function () {
  const root = document.documentElement, asked = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  const dark = () => chosen === null ? asked.matches : chosen;
  function draw(asDark) {
    root.classList.toggle('dark', asDark);
    document.querySelectorAll('.figure').forEach(function (place) {
      const both = JSON.parse(document.getElementById(place.dataset.source).textContent);
      const one = asDark ? both.dark : both.light;
      one.layout.autosize = true;
      Plotly.react(place, one.data, one.layout,
        { responsive: true, displaylogo: false, modeBarButtons: [['toImage']] });
    });
  }
  document.querySelector('button.theme').addEventListener('click', function () { chosen = !dark(); draw(dark()); });
  asked.addEventListener('change', function () { draw(dark()); });
  addEventListener('beforeprint', function () { draw(false); });
  addEventListener('afterprint', function () { draw(dark()); });
  draw(dark());
})();
